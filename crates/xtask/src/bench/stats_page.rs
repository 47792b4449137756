//! A server's own counters, read while it works: nginx's `stub_status`, the target's `/stats`, `INFO` of Redis.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// What a server has counted, without our own questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    pub(crate) requests: u64,
    /// Connections open now, ours among them.
    pub(crate) open: u64,
}

/// What is asked instead of a path: a command of Redis.
pub(crate) const INFO: &str = "INFO";

/// One kept connection on which a server is asked for its counters.
#[derive(Debug)]
pub(crate) struct StatsPage {
    address: SocketAddr,
    path: &'static str,
    stream: Option<TcpStream>,
    /// Questions asked so far: the server counts them too.
    asked: u64,
}

impl StatsPage {
    pub(crate) fn new(address: SocketAddr, path: &'static str) -> Self {
        Self { address, path, stream: None, asked: 0 }
    }

    /// Asks. Differences of two answers are exact.
    pub(crate) fn ask(&mut self) -> Result<Counts> {
        // A kept connection may have been closed meanwhile: once more on a new one.
        let body = match self.exchange() {
            Ok(body) => body,
            Err(_) => self.exchange().with_context(|| format!("{} does not answer {}", self.address, self.path))?,
        };
        let counts = parse(&body).with_context(|| format!("{} answered something else than counters", self.path))?;
        // nginx counts the question it is answering, the target does not: the same in both answers.
        let requests = counts.requests.saturating_sub(self.asked);
        self.asked += 1;
        Ok(Counts { requests, ..counts })
    }

    fn exchange(&mut self) -> Result<String> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => TcpStream::connect_timeout(&self.address, TIMEOUT)?,
        };
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_nodelay(true)?;
        let question = match self.path {
            INFO => format!("{INFO}\r\n"),
            path => format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address),
        };
        stream.write_all(question.as_bytes())?;
        let mut response = Vec::new();
        let mut chunk = [0; 4096];
        loop {
            let count = stream.read(&mut chunk)?;
            if count == 0 {
                bail!("the connection was closed");
            }
            response.extend_from_slice(&chunk[..count]);
            if let Some(body) = complete(&response)? {
                self.stream = Some(stream);
                return Ok(body);
            }
            if response.len() > PAGE_BYTES_MAX {
                bail!("the answer has no end");
            }
        }
    }
}

/// The body, once it has arrived whole.
fn complete(response: &[u8]) -> Result<Option<String>> {
    let text = String::from_utf8_lossy(response);
    // RESP: the length in a line of its own.
    if let Some(bulk) = text.strip_prefix('$') {
        let Some((length, body)) = bulk.split_once("\r\n") else { return Ok(None) };
        let length: usize = length.parse().context("an answer without a length")?;
        return Ok((body.len() >= length + 2).then(|| body.to_owned()));
    }
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return Ok(None) };
    if !head.starts_with("HTTP/1.1 200") {
        bail!("{}", head.lines().next().unwrap_or("an empty answer"));
    }
    let length = head
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length: usize =
        length.and_then(|(_, value)| value.trim().parse().ok()).context("an answer without a length")?;
    Ok((body.len() >= length).then(|| body.to_owned()))
}

fn parse(body: &str) -> Option<Counts> {
    if body.starts_with('{') {
        let stats: Value = serde_json::from_str(body).ok()?;
        return Some(Counts { requests: stats["requests"].as_u64()?, open: stats["connections"]["open"].as_u64()? });
    }
    let line = |name: &str| body.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    if let (Some(requests), Some(open)) = (line("total_commands_processed:"), line("connected_clients:")) {
        return Some(Counts { requests, open });
    }
    // Active connections: 1 server accepts handled requests
    //  2 2 3
    let open = body.lines().next()?.strip_prefix("Active connections:")?.trim().parse().ok()?;
    let requests = body.lines().nth(2)?.split_whitespace().nth(2)?.parse().ok()?;
    Some(Counts { requests, open })
}

/// A busy server on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(10);
const PAGE_BYTES_MAX: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_all_servers() {
        let nginx =
            "Active connections: 7 \nserver accepts handled requests\n 12 12 345 \nReading: 0 Writing: 1 Waiting: 0 \n";
        assert_eq!(parse(nginx), Some(Counts { requests: 345, open: 7 }));
        let target = r#"{"requests": 345, "connections": {"open": 7, "accepted": 12}}"#;
        assert_eq!(parse(target), Some(Counts { requests: 345, open: 7 }));
        let redis = "# Clients\r\nconnected_clients:7\r\n\r\n# Stats\r\ntotal_commands_processed:345\r\n";
        assert_eq!(parse(redis), Some(Counts { requests: 345, open: 7 }));
        assert_eq!(parse("<html>"), None);
    }

    #[test]
    fn answers_end_where_they_say() {
        let head = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n";
        assert_eq!(complete(format!("{head}ab").as_bytes()).unwrap(), None);
        assert_eq!(complete(format!("{head}abcd").as_bytes()).unwrap(), Some("abcd".to_owned()));
        assert_eq!(complete(b"$4\r\nabcd").unwrap(), None);
        assert_eq!(complete(b"$4\r\nabcd\r\n").unwrap(), Some("abcd\r\n".to_owned()));
        assert!(complete(b"HTTP/1.1 404 Not Found\r\n\r\n").is_err());
    }
}
