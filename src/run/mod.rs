//! The run loop: blocks, measurements, readiness, cancellation. Computes no statistic.
