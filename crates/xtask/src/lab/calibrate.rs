//! Is the server what the lab says it is? Two clients that have nothing in common ask it, before anything is measured:
//! one of plain sockets, here, and Python's own `http.client`. Both must find the delay, and the server must count what
//! each of them sent.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use xtask::packages::find;

use super::{
    job::Protocol,
    statistics::percentile,
    target::{Setup, Target},
};
use crate::bench::clock;

/// Checks the server; what was found.
pub(super) fn calibrate(onrush: &Path, folder: &Path) -> Result<Value> {
    let mut found = Vec::new();
    for delay_ms in [0, 10] {
        let mut target = Target::start(onrush, Setup { delay_ms, ..Setup::default() }, folder)?;
        let address = target.address(Protocol::Http1);
        let before = target.counts()?.requests;
        let ours = ask(address)?;
        let between = target.counts()?.requests;
        let theirs = python(address)?;
        let after = target.counts()?.requests;
        let arrivals = target.finish()?;
        for (client, times, counted) in [("sockets", ours, between - before), ("python", theirs, after - between)] {
            ensure!(counted == ASKED as u64, "{client} sent {ASKED} requests, the server counted {counted}");
            let median = percentile(&times, 0.5).context("no times")?;
            ensure!(times[0] >= delay_ms as f64, "{client} got an answer after {} ms of {delay_ms}", times[0]);
            ensure!(
                median <= delay_ms as f64 + MEDIAN_ABOVE_MS,
                "the server's answers take {median:.2} ms for {client} where {delay_ms} ms are asked for: is this machine busy?"
            );
            found.push(json!({
                "client": client, "delay_ms": delay_ms, "requests": counted,
                "least_ms": times[0], "median_ms": median, "p99_ms": percentile(&times, 0.99),
            }));
        }
        ensure!(arrivals.at_ns.len() == 2 * ASKED, "the record has {} requests of {}", arrivals.at_ns.len(), 2 * ASKED);
    }
    Ok(Value::Array(found))
}

/// Asks one after the other on one connection; sorted times in milliseconds.
fn ask(address: SocketAddr) -> Result<Vec<f64>> {
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_nodelay(true)?;
    let mut buffer = [0; 4096];
    let mut times = Vec::with_capacity(ASKED);
    for _ in 0..ASKED {
        let start = clock::now();
        stream.write_all(b"GET /f/100 HTTP/1.1\r\nHost: lab\r\n\r\n")?;
        let mut have = 0;
        // The body is 100 bytes and the head ends before it.
        while !ends(&buffer[..have]) {
            let read = stream.read(&mut buffer[have..])?;
            if read == 0 {
                bail!("the server closed the connection");
            }
            have += read;
        }
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

fn ends(answer: &[u8]) -> bool {
    answer.windows(4).position(|window| window == b"\r\n\r\n").is_some_and(|head| answer.len() >= head + 4 + BODY_BYTES)
}

fn python(address: SocketAddr) -> Result<Vec<f64>> {
    let python = find("python3").context("python3 is missing, the second client that checks the server")?;
    let output = Command::new(python)
        .args(["-c", PYTHON, &address.ip().to_string(), &address.port().to_string(), &ASKED.to_string()])
        .stdin(Stdio::null())
        .output()
        .context("cannot run python3")?;
    ensure!(output.status.success(), "python3 failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    let text = String::from_utf8_lossy(&output.stdout);
    let mut times: Vec<f64> = text.lines().filter_map(|line| line.parse().ok()).collect();
    ensure!(times.len() == ASKED, "python3 printed {} times of {ASKED}", times.len());
    times.sort_by(f64::total_cmp);
    Ok(times)
}

const PYTHON: &str = "\
import http.client, sys, time
connection = http.client.HTTPConnection(sys.argv[1], int(sys.argv[2]))
for _ in range(int(sys.argv[3])):
    start = time.perf_counter()
    connection.request('GET', '/f/100')
    answer = connection.getresponse()
    assert answer.status == 200 and len(answer.read()) == 100
    print((time.perf_counter() - start) * 1e3)
";

const ASKED: usize = 200;
const BODY_BYTES: usize = 100;
/// Two ways through the kernel and two processes woken; a median, so that a busy moment does not matter.
const MEDIAN_ABOVE_MS: f64 = 1.0;
const TIMEOUT: Duration = Duration::from_secs(10);
