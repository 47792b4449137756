//! Names of the DNS server that scripts marked `resolver` ask: what is known by them, and where the peers listen that
//! their addresses lead to.

use std::{
    io::{self, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream},
    time::Duration,
};

use anyhow::{Context, Result};
use onrush_testkit::{DnsAnswer, DnsQuestion, DnsServer};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, listen, socket_with};

/// The server, where this process may have port 53.
pub(crate) struct Names {
    server: Option<DnsServer>,
}

impl Names {
    /// Starts the server on the first address of loopback whose port 53 is free: several labs may run at once.
    pub(crate) fn start() -> Self {
        let at = |last| SocketAddr::from((Ipv4Addr::new(127, 53, 53, last), 53));
        let server = (1..=LABS_MAX).find_map(|last| DnsServer::start_on(at(last), answer).ok());
        Self { server }
    }

    /// Its address for `resolv.conf`.
    pub(crate) fn address(&self) -> Option<IpAddr> {
        self.server.as_ref().map(|server| server.addr().ip())
    }

    /// What has been asked about a name so far: `A 2 AAAA 2 tcp 0`.
    pub(crate) fn asked(&self, name: &str) -> String {
        let asked = self.server.as_ref().map(DnsServer::asked).unwrap_or_default();
        let count = |fits: &dyn Fn(&DnsQuestion) -> bool| {
            asked.iter().filter(|question| question.name == name && fits(question)).count()
        };
        format!(
            "A {} AAAA {} tcp {}",
            count(&|question| question.kind == "A"),
            count(&|question| question.kind == "AAAA"),
            count(&|question| question.is_tcp)
        )
    }
}

/// The first label of a name says what is answered; what stands behind lets each script have names of its own.
fn answer(question: &DnsQuestion) -> DnsAnswer {
    match question.name.split('.').next().unwrap_or_default() {
        "one" => DnsAnswer::addresses(&["127.0.0.1"]),
        "three" => DnsAnswer::addresses(&["127.0.0.1", "127.0.0.2", "127.0.0.3"]),
        "both" => DnsAnswer::addresses(&["127.0.0.2", "127.0.0.1", "::1"]),
        "six" => DnsAnswer::addresses(&["::1"]),
        // Nobody listens on the second.
        "partly" => DnsAnswer::addresses(&["127.0.0.1", "127.0.0.99"]),
        "alias" => DnsAnswer::addresses(&["127.0.0.1"]).alias_of("one.dns.test"),
        "long" => DnsAnswer::addresses(&["127.0.0.3"]).truncated(),
        "slow" => DnsAnswer::addresses(&["127.0.0.1"]).after(SLOW),
        "short-lived" => DnsAnswer::addresses(&["127.0.0.1"]).ttl_s(0),
        "empty" => DnsAnswer::addresses(&[]),
        "failing" => DnsAnswer::failure(),
        "refused" => DnsAnswer::refused(),
        "garbage" => DnsAnswer::garbage(),
        "silent" => DnsAnswer::silence(),
        // One family is known, about the other the server says nothing good.
        "half-failing" if question.kind == "A" => DnsAnswer::addresses(&["127.0.0.1"]),
        "half-failing" => DnsAnswer::failure(),
        "half-none" if question.kind == "A" => DnsAnswer::addresses(&["127.0.0.1"]),
        _ => DnsAnswer::no_such_name(),
    }
}

/// Listens on one port of all addresses that the names lead to, as far as this machine has them.
///
/// # Errors
/// When no port is free on all of them.
pub(crate) fn listen_everywhere() -> Result<Vec<TcpListener>> {
    const TRIES: u32 = 20;
    for _ in 0..TRIES {
        let first = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("loopback has no free port")?;
        let port = first.local_addr()?.port();
        let others = [Ipv4Addr::new(127, 0, 0, 2), Ipv4Addr::new(127, 0, 0, 3)].map(IpAddr::from);
        let others = others.into_iter().chain([Ipv6Addr::LOCALHOST.into()]);
        let others: io::Result<Vec<_>> = others
            .filter_map(|ip| match TcpListener::bind((ip, port)) {
                Err(error) if error.kind() != io::ErrorKind::AddrInUse => None,
                outcome => Some(outcome),
            })
            .collect();
        if let Ok(others) = others {
            return Ok(std::iter::once(first).chain(others).collect());
        }
    }
    anyhow::bail!("no port is free on all addresses of loopback")
}

/// A port that answers on 127.0.0.1, and on `::1` lets everybody wait for ever.
pub(crate) struct HalfDead {
    pub(crate) address: SocketAddr,
    _held: Vec<Box<dyn std::any::Any + Send>>,
}

impl HalfDead {
    /// Starts it; it serves what `listen` serves.
    pub(crate) fn start(serve: impl FnOnce(TcpListener)) -> Result<Self> {
        let live = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("loopback has no free port")?;
        let address = live.local_addr()?;
        let mut held: Vec<Box<dyn std::any::Any + Send>> = Vec::new();
        let dead = SocketAddr::from((Ipv6Addr::LOCALHOST, address.port()));
        // A queue for one connection, which is filled: the kernel then drops what asks for more.
        let queue = socket_with(AddressFamily::INET6, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        if bind(&queue, &dead).is_ok() && listen(&queue, 0).is_ok() {
            for _ in 0..FILLERS {
                let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
                let filler = socket_with(AddressFamily::INET6, SocketType::STREAM, flags, None)?;
                let _ = connect(&filler, &dead);
                held.push(Box::new(filler));
            }
            held.push(Box::new(queue));
        }
        serve(live);
        Ok(Self { address, _held: held })
    }
}

/// Answers with what has been asked about the name in the path.
pub(crate) fn tell(stream: &mut TcpStream, names: &Names, path: &str) -> io::Result<()> {
    let body = names.asked(path.trim_start_matches("/asked/"));
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

const LABS_MAX: u8 = 20;
/// More than the queue of a socket that listens for none takes.
const FILLERS: usize = 3;
/// Long beside a lookup on the same machine.
const SLOW: Duration = Duration::from_millis(150);
