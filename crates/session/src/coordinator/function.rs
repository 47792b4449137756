//! The functions of a test's life cycle.

use serde::{Deserialize, Serialize};

/// A life-cycle function a client can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Function {
    /// `setup()`: what it returns replaces the setup data.
    Setup,
    /// `teardown()`.
    Teardown,
}
