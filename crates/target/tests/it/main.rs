//! The target seen from outside: real sockets, a client made for these tests.

mod client;
mod delays;
mod endpoints;
mod hostile;
mod lifecycle;
mod protocol;
mod site;
mod tls;
