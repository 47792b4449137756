//! Apache Kafka: what its brokers are sent and answer, records and their batches, producers, consumers and their groups,
//! and Avro.
//!
//! It knows no JavaScript, no sockets, no fibers and no clock: whoever uses it brings a [`World`], which dials, waits and
//! tells the time. A [`Cluster`] finds brokers and speaks with them; a [`Producer`], a [`Consumer`] and [`admin`] are what
//! one does with it. What a broker sends is limited before it is kept, and unpacked one batch at a time.
//!
//! Requests have the newest version without tagged fields that all brokers from 2.1 to 4 know.

pub mod admin;
pub mod avro;
mod balance;
mod broker;
mod cluster;
mod code;
mod compression;
mod consumer;
mod crc;
mod error;
mod fuzz;
mod producer;
mod record;
mod sasl;
mod wire;
mod world;

pub use balance::{Balance, Balancer};
pub use cluster::{Address, Cluster, Dials, PartitionInfo, Settings, TopicInfo};
pub use compression::Codec;
pub use consumer::{Consumer, ConsumerOptions, GroupOptions, Message, Place, Progress, Start, Strategy};
pub use error::KafkaError;
pub use fuzz::fuzz;
pub use producer::{Outgoing, Producer, ProducerOptions, Sent};
pub use record::Header;
pub use sasl::{Login, Mechanism};
pub use world::{Stream, World};

#[cfg(test)]
mod tests;
