//! The experiments, as data: what the server is like, what is asked of it, with how many users, and for how long.

use super::job::{Load, Protocol, Step};

/// One thing that is measured with all tools.
#[derive(Debug)]
pub(crate) struct Experiment {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) protocol: Protocol,
    pub(crate) steps: &'static [Step],
    pub(crate) loads: &'static [Amount],
    pub(crate) delay_ms: u64,
    /// The server stands still for two seconds in every ten.
    pub(crate) freezes: bool,
    /// In a full run, and in a quick one.
    pub(crate) seconds: [u64; 2],
    /// The loads of a quick run.
    pub(crate) quick: &'static [Amount],
    pub(crate) purpose: Purpose,
}

/// How much load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Amount {
    Users(u64),
    /// So many requests a second, with this many connections.
    Rate(u64, u64),
    /// Four fifths of what the tool itself reached with 100 users, where it was measured before.
    RateAtLimit,
}

impl Amount {
    /// In a file name and a key.
    pub(crate) fn label(self) -> String {
        match self {
            Self::Users(users) => users.to_string(),
            Self::Rate(rate, _) => format!("{rate}-a-second"),
            Self::RateAtLimit => "limit".to_owned(),
        }
    }

    /// `limit`: the highest rate the tool reached when users wait for answers.
    pub(crate) fn load(self, limit: Option<f64>) -> Option<Load> {
        match self {
            Self::Users(users) => Some(Load::Closed { users }),
            Self::Rate(rate, users) => Some(Load::Open { rate, users }),
            Self::RateAtLimit => {
                let rate = (limit? * SHARE_OF_LIMIT / 100.0).floor() * 100.0;
                (rate >= 100.0).then_some(Load::Open { rate: rate as u64, users: USERS_OF_LIMIT })
            }
        }
    }
}

/// What an experiment is about, which decides what the report says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// How many requests, and what they cost.
    Throughput,
    /// What a tool adds to the latency of a server whose latency is known.
    Latency,
    /// Whether requests begin when they should.
    Accuracy,
    /// What a user costs who waits.
    Memory,
    /// How long it takes until the first request.
    Start,
    /// Whether a standstill of the server is seen.
    Standstill,
}

pub(crate) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "static",
        about: "100 bytes over kept connections, as fast as they come",
        loads: USERS,
        quick: &[Amount::Users(100)],
        ..PLAIN
    },
    Experiment {
        name: "delay",
        about: "100 bytes from a server that answers after 10 ms, with 20 to 250 users",
        delay_ms: 10,
        purpose: Purpose::Latency,
        loads: USERS,
        quick: &[Amount::Users(100)],
        ..PLAIN
    },
    Experiment { name: "https", about: "100 bytes over TLS 1.3, kept connections", protocol: Protocol::Https, ..PLAIN },
    Experiment {
        name: "http2",
        about: "100 bytes over HTTP/2, one request at a time on each connection",
        protocol: Protocol::Http2,
        ..PLAIN
    },
    Experiment { name: "page", about: "a page of 11 KB, its status and a text in it checked", steps: &[PAGE], ..PLAIN },
    Experiment {
        name: "journey",
        about: "a visitor's way through a web site: page, style sheet, script, form, page",
        steps: JOURNEY,
        ..PLAIN
    },
    Experiment {
        name: "rate",
        about: "2,000 requests a second, evenly, and four fifths of what the tool can do",
        loads: &[Amount::Rate(2_000, 50), Amount::RateAtLimit],
        quick: &[Amount::Rate(2_000, 50)],
        purpose: Purpose::Accuracy,
        ..PLAIN
    },
    Experiment {
        name: "standstill",
        about: "500 requests a second, or 50 users, against a server that stands still for 2 s of every 10",
        loads: &[Amount::Rate(500, 50), Amount::Users(50)],
        quick: &[Amount::Rate(500, 50)],
        freezes: true,
        seconds: [11, 11],
        purpose: Purpose::Standstill,
        ..PLAIN
    },
    Experiment {
        name: "memory",
        about: "users who wait 5 s for each answer",
        loads: &[Amount::Users(1_000), Amount::Users(5_000), Amount::Users(15_000)],
        quick: &[Amount::Users(1_000)],
        delay_ms: 5_000,
        seconds: [12, 8],
        purpose: Purpose::Memory,
        ..PLAIN
    },
    Experiment {
        name: "start",
        about: "one user for one second: how long until its first request, and what that costs",
        loads: &[Amount::Users(1)],
        quick: &[Amount::Users(1)],
        seconds: [1, 1],
        purpose: Purpose::Start,
        ..PLAIN
    },
];

const PLAIN: Experiment = Experiment {
    name: "",
    about: "",
    protocol: Protocol::Http1,
    steps: &[SMALL],
    loads: &[Amount::Users(100)],
    delay_ms: 0,
    freezes: false,
    seconds: [5, 2],
    quick: &[Amount::Users(100)],
    purpose: Purpose::Throughput,
};

/// Those of 2017.
const USERS: &[Amount] = &[Amount::Users(20), Amount::Users(50), Amount::Users(100), Amount::Users(250)];

const SMALL: Step = Step { path: "/f/100", form: None, contains: None };
const PAGE: Step = Step { path: "/", form: None, contains: Some("Welcome") };
const JOURNEY: &[Step] = &[
    PAGE,
    Step { path: "/static/css/site.css", form: None, contains: None },
    Step { path: "/f/10240", form: None, contains: None },
    Step { path: "/post", form: Some("name=visitor&comment=hello"), contains: Some("visitor") },
    Step { path: "/contacts.php", form: None, contains: None },
];

const SHARE_OF_LIMIT: f64 = 0.8;
const USERS_OF_LIMIT: u64 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts() {
        assert_eq!(Amount::Rate(2_000, 50).label(), "2000-a-second");
        assert_eq!(Amount::Users(20).load(None), Some(Load::Closed { users: 20 }));
        assert_eq!(Amount::RateAtLimit.load(None), None);
        assert_eq!(Amount::RateAtLimit.load(Some(50.0)), None);
        assert_eq!(Amount::RateAtLimit.load(Some(10_090.0)), Some(Load::Open { rate: 8_000, users: 100 }));
    }

    #[test]
    fn names_are_told_apart_and_every_load_can_be_named() {
        let mut names: Vec<&str> = EXPERIMENTS.iter().map(|experiment| experiment.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), EXPERIMENTS.len());
        for experiment in EXPERIMENTS {
            assert!(!experiment.loads.is_empty() && !experiment.quick.is_empty() && !experiment.steps.is_empty());
        }
    }
}
