//! WebSocket connections: what the server does after `101 Switching Protocols`.
//!
//! It is written for tests, not for service: it answers what it is sent, or goes wrong as the request's query says. It
//! reads the client's frames itself (`frame`) and shares nothing with Onrush's own client.

mod behaviour;
mod frame;
mod session;

pub(crate) use behaviour::{Accepted, Behaviour, accept};
pub(crate) use session::{Session, Turn};
