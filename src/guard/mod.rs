//! Guards: rules that the instrument itself must pass; pure functions over readings.
