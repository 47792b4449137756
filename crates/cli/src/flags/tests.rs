//! The table against the parser, the environment and what options know.
