//! Tests over whole scripts.
