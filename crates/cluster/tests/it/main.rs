//! The cluster from outside: what is generated, connections, and everything that goes wrong with them.

mod connections;
mod generated;
mod proxy;
mod refused;
mod support;
