//! Makes whole runs of made-up numbers, for tests. Measures nothing.
