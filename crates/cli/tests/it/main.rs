//! Runs the binary.
