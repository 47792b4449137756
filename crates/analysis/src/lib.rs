//! What runs say beyond their summary.
//!
//! [`compare`](mod@compare) tells whether one run was faster or slower than another by more than noise can explain. All of it is
//! arithmetic over per-second figures: the same runs give the same words on every machine.

pub mod compare;
