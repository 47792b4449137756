//! Clients against brokers of our own, which say what the case wants; and what they are made of.

mod brokers;
mod clients;
mod packing;
mod world;
