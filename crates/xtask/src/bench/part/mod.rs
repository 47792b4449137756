//! What is measured: one file for each part.

mod agents;
mod arrivals;
mod bodies;
mod comparison;
mod csv;
mod duel;
mod echo;
mod extensions;
mod flat;
mod grpc;
mod held;
mod https;
mod idle;
mod instructions;
mod latency;
mod many;
mod memory;
mod minimal;
mod neighbours;
mod operations;
mod outputs;
mod own_delay;
mod params;
mod redis;
mod search;
mod sockets;
mod stages;
mod starts;
mod startup;
mod upload;
mod website;

use anyhow::Result;

use super::{lab::Lab, tool::Tool};

/// A part of the benchmark that can be run on its own.
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// Programs besides Onrush.
    pub(super) needs: &'static [Tool],
    pub(super) run: fn(&mut Lab) -> Result<()>,
}

/// All parts, in the order they run.
pub(super) const PARTS: &[Part] = &[
    Part {
        name: minimal::NAME,
        about: "one request and one check, 100 VUs, against nginx and the target, pinned and not",
        needs: &[Tool::Wrk, Tool::Nginx, Tool::K6],
        run: minimal::run,
    },
    Part {
        name: params::NAME,
        about: "a request with two headers, a tag and a check beside a plain one",
        needs: &[Tool::K6],
        run: params::run,
    },
    Part {
        name: instructions::NAME,
        about: "instructions and misses of caches for a request, on a simulated machine",
        needs: &[Tool::Wrk, Tool::Valgrind],
        run: instructions::run,
    },
    Part {
        name: outputs::NAME,
        about: "a request while results are pushed to Prometheus, InfluxDB or OpenTelemetry, beside one without",
        needs: &[Tool::K6],
        run: outputs::run,
    },
    Part {
        name: own_delay::NAME,
        about: "a request with the generator's own delay measured, beside one without",
        needs: &[Tool::Nginx],
        run: own_delay::run,
    },
    Part {
        name: many::NAME,
        about: "a request of 10,000 VUs beside one of 250",
        needs: &[Tool::Wrk, Tool::Nginx],
        run: many::run,
    },
    Part {
        name: https::NAME,
        about: "one request and one check over TLS: kept connections, new ones, HTTP/2",
        needs: &[Tool::Wrk, Tool::Nginx, Tool::K6, Tool::H2load, Tool::Oha],
        run: https::run,
    },
    Part {
        name: bodies::NAME,
        about: "bodies read, discarded and compressed, and batches of ten",
        needs: &[Tool::Wrk, Tool::Nginx, Tool::K6],
        run: bodies::run,
    },
    Part { name: echo::NAME, about: "messages that come back over WebSockets", needs: &[Tool::K6], run: echo::run },
    Part { name: grpc::NAME, about: "single calls and streams over gRPC", needs: &[Tool::K6], run: grpc::run },
    Part { name: redis::NAME, about: "commands to Redis", needs: &[Tool::K6, Tool::Redis], run: redis::run },
    Part {
        name: latency::NAME,
        about: "what clients report of a server that answers after 10 ms",
        needs: &[Tool::Wrk, Tool::Ab, Tool::Hey, Tool::K6],
        run: latency::run,
    },
    Part {
        name: website::NAME,
        about: "a visitor of a web site, 100 VUs without pauses",
        needs: &[Tool::K6],
        run: website::run,
    },
    Part { name: search::NAME, about: "searching bodies of 11 KB", needs: &[Tool::Nginx, Tool::K6], run: search::run },
    Part {
        name: operations::NAME,
        about: "what modules compute: SHA-256, HMAC, AES-GCM, Base64",
        needs: &[Tool::K6],
        run: operations::run,
    },
    Part {
        name: extensions::NAME,
        about: "calls of an extension beside the same in JavaScript, and its memory",
        needs: &[Tool::K6],
        run: extensions::run,
    },
    Part { name: csv::NAME, about: "tables of a million rows", needs: &[Tool::K6], run: csv::run },
    Part { name: upload::NAME, about: "uploads of 26 MB", needs: &[Tool::K6], run: upload::run },
    Part {
        name: memory::NAME,
        about: "memory of sleeping VUs, how soon all are there, and what reference cycles add",
        needs: &[Tool::K6],
        run: memory::run,
    },
    Part {
        name: idle::NAME,
        about: "memory of WebSockets and gRPC streams on which nothing happens",
        needs: &[Tool::K6],
        run: idle::run,
    },
    Part {
        name: sockets::NAME,
        about: "100,000 VUs with open connections, in several agent processes",
        needs: &[Tool::Nginx],
        run: sockets::run,
    },
    Part {
        name: startup::NAME,
        about: "a test of nothing, from start to end, and the size of the program",
        needs: &[Tool::K6],
        run: startup::run,
    },
    Part { name: flat::NAME, about: "memory after a million requests and after five", needs: &[], run: flat::run },
    Part { name: stages::NAME, about: "a staged ramp to 6,000 VUs", needs: &[Tool::K6], run: stages::run },
    Part { name: arrivals::NAME, about: "empty iterations at a constant rate", needs: &[Tool::K6], run: arrivals::run },
    Part {
        name: starts::NAME,
        about: "when each executor begins its iterations",
        needs: &[Tool::K6],
        run: starts::run,
    },
    Part {
        name: agents::NAME,
        about: "how far apart eight agents start, also with clocks far apart",
        needs: &[],
        run: agents::run,
    },
    Part {
        name: neighbours::NAME,
        about: "a VU beside one whose single calls take long, on one thread",
        needs: &[],
        run: neighbours::run,
    },
];
