//! `k6/websockets`: sockets whose events the VU's event loop hands to the script.
//!
//! `object` is what scripts see, `socket` what is behind it, `event` what handlers get.

mod event;
mod object;
mod socket;

pub(super) use object::{construct, install_class, prototype};
