//! What runs say beyond their summary.
//!
//! [`compare`](mod@compare) tells whether one run was faster or slower than another by more than noise can explain, [`capacity`]
//! searches for the highest load that holds its goals. All of it is arithmetic: the same runs give the same words on every
//! machine.

pub mod capacity;
pub mod compare;
