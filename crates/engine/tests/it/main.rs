//! Scripts run in process on the real engine: isolation of VUs under both layouts, and k6's behaviour, line by line.
//!
//! `harness` runs a script and collects all it did; `bodies`, `bombs`, `data_modules`, `declared`, `declared_members`, `extensions`,
//! `faker`, `go_grpc`, `html`, `http_streams`, `isolation`, `kafka`, `language`, `limits`, `modules`, `mqtt`, `neighbours`,
//! `raw_peers`, `records`, `redis`, `schedules`, `sql`, `sse`, `streams`, `tcp`, `waits`, `webcrypto` and `websockets` hold tests
//! with scripts of their own; `parity` replays the scripts of `k6/` against what k6 printed for them.

mod bodies;
mod bombs;
mod crypto;
mod data_modules;
mod declared;
mod declared_members;
mod extensions;
mod faker;
mod go_grpc;
mod harness;
mod html;
mod http_streams;
mod isolation;
mod kafka;
mod language;
mod limits;
mod loader;
mod modules;
mod mqtt;
mod natives;
mod neighbours;
mod pages;
mod parity;
mod raw_peers;
mod records;
mod redis;
mod schedules;
mod sql;
mod sse;
mod streams;
mod tcp;
mod waits;
mod webcrypto;
mod websockets;
