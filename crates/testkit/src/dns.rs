//! A DNS server over UDP and TCP that answers with what a closure says, wrongly if need be.
//!
//! The wire format is hickory's, which `net` has its resolver from as well: what is tested is how the two speak to each
//! other, and k6's resolver (Go's) reads the same answers.

use std::{
    io::{self, Read, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use hickory_proto::{
    op::{Message, MessageType, ResponseCode},
    rr::{
        Name, RData, Record, RecordType,
        rdata::{A, AAAA, CNAME},
    },
};

use crate::acceptor::{Acceptor, Peer};

/// A DNS server on loopback, the same port for UDP and TCP, until it is dropped.
pub struct DnsServer {
    addr: SocketAddr,
    shared: Arc<Shared>,
    udp: Option<JoinHandle<()>>,
    /// Ends with its own drop.
    _tcp: Acceptor,
}

/// What a client wants to know.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DnsQuestion {
    /// The name, in lower case and without the last dot.
    pub name: String,
    /// `A`, `AAAA`, …
    pub kind: String,
    /// Whether it was asked over TCP.
    pub is_tcp: bool,
    /// How long an answer over UDP may be, if the client says so (EDNS).
    pub udp_bytes: Option<u16>,
    /// The message's number. What is sent again because no answer has come has the same.
    pub number: u16,
}

/// What the server says to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DnsAnswer {
    say: Say,
    ips: Vec<IpAddr>,
    alias: Option<String>,
    ttl_s: u32,
    after: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Say {
    Records,
    Code(ResponseCode),
    /// Over UDP only that there is more; over TCP all of it.
    Truncated,
    /// Bytes that are no message, but for its number.
    Garbage,
    /// A good answer to another question.
    OtherNumber,
    Nothing,
}

impl DnsAnswer {
    /// These addresses: to a question for `A` those of IPv4, for `AAAA` those of IPv6, in this order.
    ///
    /// # Panics
    /// When a text is no address.
    pub fn addresses(ips: &[&str]) -> Self {
        let ips = ips.iter().map(|ip| ip.parse().expect("tests give addresses")).collect();
        Self { ips, ..Self::say(Say::Records) }
    }

    /// The name does not exist.
    pub fn no_such_name() -> Self {
        Self::say(Say::Code(ResponseCode::NXDomain))
    }

    /// The server cannot answer now.
    pub fn failure() -> Self {
        Self::say(Say::Code(ResponseCode::ServFail))
    }

    /// The server does not want to answer.
    pub fn refused() -> Self {
        Self::say(Say::Code(ResponseCode::Refused))
    }

    /// Bytes that are no answer.
    pub fn garbage() -> Self {
        Self::say(Say::Garbage)
    }

    /// An answer that carries another number than the question.
    pub fn other_number(ips: &[&str]) -> Self {
        Self { say: Say::OtherNumber, ..Self::addresses(ips) }
    }

    /// No answer at all.
    pub fn silence() -> Self {
        Self::say(Say::Nothing)
    }

    /// Over UDP it says only that the answer is too long.
    #[must_use]
    pub fn truncated(self) -> Self {
        Self { say: Say::Truncated, ..self }
    }

    /// The name is another's alias, which has the addresses.
    #[must_use]
    pub fn alias_of(self, name: &str) -> Self {
        Self { alias: Some(name.to_owned()), ..self }
    }

    /// How long the records may be kept, in seconds; a minute unless told.
    #[must_use]
    pub fn ttl_s(self, ttl_s: u32) -> Self {
        Self { ttl_s, ..self }
    }

    /// Comes later.
    #[must_use]
    pub fn after(self, delay: Duration) -> Self {
        Self { after: delay, ..self }
    }

    fn say(say: Say) -> Self {
        Self { say, ips: Vec::new(), alias: None, ttl_s: 60, after: Duration::ZERO }
    }
}

type Handler = dyn Fn(&DnsQuestion) -> DnsAnswer + Send + Sync;

struct Shared {
    handler: Box<Handler>,
    asked: Mutex<Vec<DnsQuestion>>,
    stop: AtomicBool,
}

impl DnsServer {
    /// Starts a server on a free port.
    ///
    /// # Panics
    /// When no port is free.
    pub fn start(handler: impl Fn(&DnsQuestion) -> DnsAnswer + Send + Sync + 'static) -> Self {
        const TRIES: u32 = 20;
        let handler: Arc<Handler> = Arc::new(handler);
        for _ in 0..TRIES {
            let handler = Arc::clone(&handler);
            // That a port is free for TCP does not mean that it is for UDP.
            if let Ok(server) = Self::start_on((Ipv4Addr::LOCALHOST, 0).into(), move |question| handler(question)) {
                return server;
            }
        }
        panic!("loopback has no port that is free for UDP and TCP");
    }

    /// Starts a server on this address; clients that read `resolv.conf` expect port 53.
    ///
    /// # Errors
    /// When the address cannot be had: ports below 1024 need rights.
    pub fn start_on(
        addr: SocketAddr,
        handler: impl Fn(&DnsQuestion) -> DnsAnswer + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let shared =
            Arc::new(Shared { handler: Box::new(handler), asked: Mutex::default(), stop: AtomicBool::new(false) });
        let by_tcp = Arc::clone(&shared);
        let tcp = Acceptor::start_on(addr, move |peer| serve_tcp(peer, &by_tcp))?;
        let addr = tcp.addr();
        let socket = UdpSocket::bind(addr)?;
        let by_udp = Arc::clone(&shared);
        let udp = std::thread::spawn(move || serve_udp(&socket, &by_udp));
        Ok(Self { addr, shared, udp: Some(udp), _tcp: tcp })
    }

    /// Where it listens, for both.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// All it has been asked so far; what was sent again counts once.
    pub fn asked(&self) -> Vec<DnsQuestion> {
        self.shared.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How often it has been asked for a name's records of a kind, over UDP or TCP.
    pub fn count(&self, name: &str, kind: &str) -> usize {
        self.asked().iter().filter(|asked| asked.name == name && asked.kind == kind).count()
    }
}

impl Drop for DnsServer {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        // Wakes the thread; an empty datagram is no question.
        if let Ok(socket) = UdpSocket::bind((self.addr.ip(), 0)) {
            let _ = socket.send_to(&[], self.addr);
        }
        if let Some(thread) = self.udp.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// The bytes to answer with, and how long to wait before.
    fn answer(&self, wire: &[u8], is_tcp: bool) -> Option<(Vec<u8>, Duration)> {
        let query = Message::from_vec(wire).ok()?;
        let asked = query.queries.first()?;
        let question = DnsQuestion {
            name: asked.name().to_ascii().trim_end_matches('.').to_ascii_lowercase(),
            kind: asked.query_type().to_string(),
            is_tcp,
            udp_bytes: query.edns.as_ref().map(hickory_proto::op::Edns::max_payload),
            number: query.metadata.id,
        };
        let answer = (self.handler)(&question);
        let mut seen = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if !seen.contains(&question) {
            seen.push(question);
        }
        drop(seen);
        let mut message = Message::response(query.metadata.id, query.metadata.op_code);
        message.metadata.message_type = MessageType::Response;
        message.metadata.recursion_desired = query.metadata.recursion_desired;
        message.metadata.recursion_available = true;
        message.add_query(asked.clone());
        match answer.say {
            Say::Nothing => return None,
            Say::Garbage => {
                let number = query.metadata.id.to_be_bytes();
                return Some(([&number[..], b"this is not what was asked for"].concat(), answer.after));
            }
            Say::Code(code) => message.metadata.response_code = code,
            Say::Truncated if !is_tcp => message.metadata.truncation = true,
            Say::Truncated | Say::Records => add_records(&mut message, asked.name(), asked.query_type(), &answer),
            Say::OtherNumber => {
                message.metadata.id = query.metadata.id.wrapping_add(1);
                add_records(&mut message, asked.name(), asked.query_type(), &answer);
            }
        }
        Some((message.to_vec().ok()?, answer.after))
    }
}

fn add_records(message: &mut Message, name: &Name, kind: RecordType, answer: &DnsAnswer) {
    let mut owner = name.clone();
    if let Some(alias) = answer.alias.as_deref().and_then(|alias| Name::from_ascii(format!("{alias}.")).ok()) {
        message.add_answer(Record::from_rdata(owner, answer.ttl_s, RData::CNAME(CNAME(alias.clone()))));
        owner = alias;
    }
    for ip in &answer.ips {
        let data = match (ip, kind) {
            (IpAddr::V4(ip), RecordType::A) => RData::A(A(*ip)),
            (IpAddr::V6(ip), RecordType::AAAA) => RData::AAAA(AAAA(*ip)),
            _ => continue,
        };
        message.add_answer(Record::from_rdata(owner.clone(), answer.ttl_s, data));
    }
}

fn serve_udp(socket: &UdpSocket, shared: &Arc<Shared>) {
    let mut buffer = [0; 4096];
    while let Ok((count, client)) = socket.recv_from(&mut buffer) {
        if shared.stop.load(Ordering::Acquire) {
            return;
        }
        let Some((bytes, after)) = shared.answer(&buffer[..count], false) else { continue };
        if after.is_zero() {
            let _ = socket.send_to(&bytes, client);
        } else if let Ok(socket) = socket.try_clone() {
            // Late answers do not hold up the others.
            std::thread::spawn(move || {
                std::thread::sleep(after);
                let _ = socket.send_to(&bytes, client);
            });
        }
    }
}

fn serve_tcp(mut peer: Peer, shared: &Shared) {
    let mut length = [0; 2];
    while peer.stream.read_exact(&mut length).is_ok() {
        let mut wire = vec![0; usize::from(u16::from_be_bytes(length))];
        if peer.stream.read_exact(&mut wire).is_err() {
            return;
        }
        let Some((bytes, after)) = shared.answer(&wire, true) else { continue };
        let Ok(length) = u16::try_from(bytes.len()) else { return };
        if !peer.pause(after) || peer.stream.write_all(&[&length.to_be_bytes()[..], &bytes].concat()).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hickory_proto::op::Query;
    use std::net::TcpStream;

    fn question(name: &str, kind: RecordType) -> Vec<u8> {
        let mut message = Message::query();
        message.add_query(Query::query(Name::from_ascii(name).unwrap(), kind));
        message.to_vec().unwrap()
    }

    #[test]
    fn answers_over_both_transports() {
        let server = DnsServer::start(|question| match question.name.as_str() {
            "long.test" => DnsAnswer::addresses(&["10.0.0.1", "::1", "10.0.0.2"]).ttl_s(7).truncated(),
            "alias.test" => DnsAnswer::addresses(&["::2"]).alias_of("real.test"),
            _ => DnsAnswer::no_such_name(),
        });
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let over_udp = |name: &str, kind: RecordType| {
            udp.send_to(&question(name, kind), server.addr()).unwrap();
            let mut buffer = [0; 512];
            let count = udp.recv(&mut buffer).unwrap();
            Message::from_vec(&buffer[..count]).unwrap()
        };
        assert_eq!(over_udp("none.test.", RecordType::A).metadata.response_code, ResponseCode::NXDomain);
        let alias = over_udp("Alias.test.", RecordType::AAAA);
        let shown: Vec<String> = alias.answers.iter().map(|record| record.data.to_string()).collect();
        assert_eq!(shown, ["real.test.", "::2"]);
        let long = over_udp("long.test.", RecordType::A);
        assert!(long.metadata.truncation && long.answers.is_empty());

        let mut tcp = TcpStream::connect(server.addr()).unwrap();
        let wire = question("long.test.", RecordType::A);
        let length = u16::try_from(wire.len()).unwrap().to_be_bytes();
        tcp.write_all(&[&length[..], &wire].concat()).unwrap();
        let mut length = [0; 2];
        tcp.read_exact(&mut length).unwrap();
        let mut bytes = vec![0; usize::from(u16::from_be_bytes(length))];
        tcp.read_exact(&mut bytes).unwrap();
        let answers = Message::from_vec(&bytes).unwrap().answers;
        let shown: Vec<_> = answers.iter().map(|record| (record.data.to_string(), record.ttl)).collect();
        assert_eq!(shown, [("10.0.0.1".to_owned(), 7), ("10.0.0.2".to_owned(), 7)]);
        assert_eq!(server.count("long.test", "A"), 2);
        assert!(server.asked().last().unwrap().is_tcp);
    }
}
