//! The cluster from outside: what is generated, connections, and everything that goes wrong with them.

mod connections;
mod generated;
mod members;
mod pool;
mod proxy;
mod refused;
mod relay;
mod support;
