//! The target seen from outside: real sockets, a client made for these tests.

mod auth;
mod client;
mod delays;
mod endpoints;
mod faults;
mod hostile;
mod http2;
mod lifecycle;
mod protocol;
mod record;
mod shapes;
mod site;
mod tls;
