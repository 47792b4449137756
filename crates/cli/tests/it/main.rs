//! Runs the built program: scripts in, exit codes, output and files out.
//!
//! Servers run in this process (`onrush-testsite`, `onrush-testkit`). Nothing here measures time; tests that must wait
//! for the program wait for what it prints.

#![forbid(unsafe_code)]

mod agent_outputs;
mod agents;
mod archives;
mod bad_input;
mod blocked;
mod capacity;
mod certificates;
mod check;
mod compare;
mod control;
mod coordinator;
mod doctor;
mod documented;
mod ending;
mod examples;
mod exit_codes;
mod failures;
mod full_screen;
mod grafana;
mod hostile;
mod http;
mod imports;
mod influxdb;
mod intended;
mod joining;
mod journal;
mod kafka;
mod layouts;
mod lifecycle;
mod logs;
mod loki;
mod long_outputs;
mod namespaces;
mod network;
mod nginx;
mod openmetrics;
mod opentelemetry;
mod otel_collector;
mod outputs;
mod own_delay;
mod pool;
mod postgres;
mod program;
mod prometheus;
mod prometheus_3;
mod rebalance;
mod relay;
mod reports;
mod results;
mod scripts;
mod secrets;
mod segments;
mod selftest;
mod server;
mod signals;
mod statsd;
mod summary;
mod target;
mod terminal;
mod thresholds;
mod tiers;
mod tls;
mod tools;
mod traces;
mod view;
