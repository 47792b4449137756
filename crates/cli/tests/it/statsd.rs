//! `--out statsd` and `--out datadog`: what a receiver computes from the datagrams is what the summary says.

use std::{collections::BTreeMap, net::UdpSocket, os::unix::net::UnixDatagram, time::Duration};

use crate::{
    program::Program,
    server::{SCRIPT, free_address},
};

/// What a receiver knows.
#[derive(Default)]
struct Received {
    counters: BTreeMap<String, f64>,
    gauges: BTreeMap<String, f64>,
    /// Values and how many each stands for.
    values: BTreeMap<String, Vec<(f64, u64)>>,
    datagram_bytes_max: usize,
    lines_max: usize,
    tags: Vec<String>,
}

impl Received {
    /// Reads datagrams until none comes for a while after the first one.
    fn all(mut receive: impl FnMut(&mut [u8]) -> std::io::Result<usize>) -> Self {
        let (mut received, mut buffer) = (Self::default(), vec![0; 1 << 16]);
        while let Ok(length) = receive(&mut buffer) {
            let text = std::str::from_utf8(&buffer[..length]).expect("text");
            received.datagram_bytes_max = received.datagram_bytes_max.max(length);
            received.lines_max = received.lines_max.max(text.lines().count());
            text.lines().for_each(|line| received.line(line));
        }
        received
    }

    fn line(&mut self, line: &str) {
        let mut parts = line.split('|');
        let mut numbers = parts.next().expect("a part").split(':');
        let name = numbers.next().expect("a name").to_owned();
        let numbers: Vec<f64> = numbers.map(|number| number.parse().expect(line)).collect();
        let kind = parts.next().expect(line);
        let mut share = 1.0;
        for part in parts {
            match part.split_at(1) {
                ("@", text) => share = text.parse().expect(line),
                ("#", text) => self.tags.push(text.to_owned()),
                _ => panic!("{line}"),
            }
        }
        match kind {
            "c" => *self.counters.entry(name).or_default() += numbers.iter().sum::<f64>() / share,
            "g" => _ = self.gauges.insert(name, numbers[0]),
            "ms" | "d" => {
                let each = numbers.into_iter().map(|number| (number, (1.0 / share) as u64));
                self.values.entry(name).or_default().extend(each);
            }
            _ => panic!("{line}"),
        }
    }

    fn count(&self, name: &str) -> u64 {
        self.values[name].iter().map(|(_, count)| count).sum()
    }

    fn percentile(&self, name: &str, share: f64) -> f64 {
        let mut values = self.values[name].clone();
        values.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut rank = (self.count(name) as f64 * share) as u64;
        for (value, count) in values {
            if rank < count {
                return value;
            }
            rank -= count;
        }
        f64::NAN
    }
}

/// After the last datagram.
const SILENCE: Duration = Duration::from_secs(6);

#[test]
fn a_receiver_has_what_the_summary_has() {
    for (name, ns) in [("statsd", "k6."), ("datadog", "load.")] {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        socket.set_read_timeout(Some(SILENCE)).expect("a timeout");
        let out = format!("{name}={}", socket.local_addr().expect("bound"));
        let received = std::thread::spawn(move || Received::all(|buffer| socket.recv(buffer)));
        let done = Program::script(&["-q", "--out", &out, "--summary-export", "s.json", "--agents", "2"], SCRIPT)
            .env("K6_DATADOG_NAMESPACE", ns)
            .env("K6_DATADOG_TAG_BLACKLIST", "vu,iter,url,testid")
            .run()
            .expect(0);
        let received = received.join().expect("no panic");
        let summary = &done.json("s.json")["metrics"];
        let of = |metric: &str, value: &str| summary[metric][value].as_f64().expect(metric);
        let counter = |metric: &str| received.counters[&format!("{ns}{metric}")];
        assert_eq!(counter("iterations"), of("iterations", "count"));
        assert_eq!(counter("sum"), of("sum", "count"));
        assert_eq!((counter("odd"), counter("odd.total")), (of("odd", "passes"), of("iterations", "count")));
        assert_eq!(counter("check.is_\"a\"_number_.pass"), of("checks", "passes"));
        assert_eq!(received.gauges[&format!("{ns}level")], 5.0);
        for metric in ["size", "time"] {
            let own = format!("{ns}{metric}");
            assert_eq!(received.count(&own) as f64, of(metric, "count"));
            let (found, expect) = (received.percentile(&own, 0.95), of(metric, "p(95)"));
            // A hundred values, evenly: a percent of them is one.
            assert!((found - expect).abs() <= of(metric, "max") / 50.0, "{metric}: {found} instead of {expect}");
        }
        assert!(received.datagram_bytes_max <= 1_432 && received.lines_max <= 20);
        let tags = received.tags.join(" ");
        assert_eq!(tags.contains("parity:odd"), name == "datadog", "{tags}");
        assert!(!tags.contains("testid"), "{tags}");
    }
}

#[test]
fn a_unix_socket_will_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("dsd.socket");
    let socket = UnixDatagram::bind(&path).expect("a socket");
    socket.set_read_timeout(Some(SILENCE)).expect("a timeout");
    let received = std::thread::spawn(move || Received::all(|buffer| socket.recv(buffer)));
    let out = format!("datadog=unix://{}", path.display());
    let done = Program::script(&["-q", "--out", &out, "--summary-export", "s.json"], SCRIPT).run().expect(0);
    let received = received.join().expect("no panic");
    assert_eq!(Some(received.counters["k6.sum"]), done.json("s.json")["metrics"]["sum"]["count"].as_f64());
    assert!(received.datagram_bytes_max > 1_432 && received.datagram_bytes_max <= 8_192);
}

#[test]
fn nobody_there_is_told_and_costs_the_run_nothing() {
    let out = format!("statsd={}", free_address());
    let done = Program::script(&["-q", "--out", &out], SCRIPT).run().expect(0);
    let done =
        done.expect_log("refused a part of the run, which it lacks: connection refused").expect_log(" datagrams");
    done.expect_output(" datagrams");
}

#[test]
fn what_cannot_be_is_refused() {
    let check = |out: &str, env: (&str, &str), expect: &str| {
        Program::script(&["--out", out], SCRIPT).env(env.0, env.1).run().expect(255).expect_log(expect);
    };
    check("statsd=nowhere", ("A", ""), "could not create the 'statsd' output: \\\"nowhere\\\" is no address");
    check("statsd", ("K6_STATSD_BUFFER_SIZE", "0"), "invalid K6_STATSD_BUFFER_SIZE");
    check("datadog", ("K6_DATADOG_ENABLE_TAGS", "maybe"), "use true or false");
}
