//! The end-of-test summary: model and renderers.
