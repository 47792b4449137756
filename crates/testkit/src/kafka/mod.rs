//! A cluster of one Kafka broker that believes nothing: batches are read byte by byte, without the code under test, and what the protocol
//! forbids is noted. It may be killed and started again, and may misbehave.

mod apache;
mod records;

use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use self::records::{Cursor, read_batch};
pub use self::{apache::ApacheKafka, records::KafkaMessage};
use crate::acceptor::{Acceptor, Peer};

/// A broker on loopback. What it was given stays when it is killed.
pub struct KafkaBroker {
    addr: SocketAddr,
    acceptor: Option<Acceptor>,
    state: Arc<Mutex<State>>,
}

/// What a broker does with messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KafkaMood {
    /// Takes them.
    #[default]
    Takes,
    /// Takes them and hangs up before it says so, once.
    TakesAndHangsUp,
    /// Answers with this number.
    Refuses(i16),
    /// Answers nothing at all, whatever it is asked.
    IsSilent,
}

#[derive(Default)]
struct State {
    mood: KafkaMood,
    partitions: i32,
    /// Who may write, if not everybody.
    login: Option<(String, String)>,
    messages: Vec<KafkaMessage>,
    batches: u64,
    problems: Vec<String>,
}

impl KafkaBroker {
    /// Makes each topic with so many partitions as soon as somebody asks for it. `login`: user and password of those who may, by
    /// SASL's PLAIN.
    ///
    /// # Panics
    /// When no port is free.
    pub fn start(partitions: i32, login: Option<(&str, &str)>) -> Self {
        let login = login.map(|(user, password)| (user.to_owned(), password.to_owned()));
        let state = Arc::new(Mutex::new(State { partitions, login, ..State::default() }));
        let mut broker = Self { addr: (Ipv4Addr::LOCALHOST, 0).into(), acceptor: None, state };
        broker.start_again();
        broker
    }

    /// Listens again, at the same address.
    ///
    /// # Panics
    /// When somebody else does.
    pub fn start_again(&mut self) {
        let state = self.state.clone();
        let acceptor = Acceptor::start_on(self.addr, move |peer| {
            // Whoever is gone needs no answer.
            let _ = serve(peer, &state);
        });
        let acceptor = acceptor.expect("a free port");
        self.addr = acceptor.addr();
        self.acceptor = Some(acceptor);
    }

    /// Closes all connections, and takes no others.
    pub fn kill(&mut self) {
        self.acceptor = None;
    }

    /// Where it listens.
    pub fn address(&self) -> String {
        self.addr.to_string()
    }

    /// From now on.
    pub fn set_mood(&self, mood: KafkaMood) {
        lock(&self.state).mood = mood;
    }

    /// What it was given, in order.
    pub fn messages(&self) -> Vec<KafkaMessage> {
        lock(&self.state).messages.clone()
    }

    /// In how many batches that came.
    pub fn batches(&self) -> u64 {
        lock(&self.state).batches
    }

    /// What was wrong with what it was sent.
    pub fn problems(&self) -> Vec<String> {
        lock(&self.state).problems.clone()
    }
}

const PRODUCE: i16 = 0;
const METADATA: i16 = 3;
const SASL_HANDSHAKE: i16 = 17;
const SASL_AUTHENTICATE: i16 = 36;
const SASL_AUTHENTICATION_FAILED: i16 = 58;
/// More than any client of ours sends at a time.
const REQUEST_BYTES_MAX: usize = 16 << 20;

fn serve(mut peer: Peer, state: &Mutex<State>) -> std::io::Result<()> {
    let port = peer.stream.local_addr()?.port();
    let mut is_known = lock(state).login.is_none();
    loop {
        let mut length = [0; 4];
        peer.stream.read_exact(&mut length)?;
        let length = u32::from_be_bytes(length) as usize;
        if length > REQUEST_BYTES_MAX {
            lock(state).problems.push(format!("a request of {length} bytes"));
            return Ok(());
        }
        let mut request = vec![0; length];
        peer.stream.read_exact(&mut request)?;
        if lock(state).mood == KafkaMood::IsSilent {
            peer.hang();
            return Ok(());
        }
        let Some(answer) = answer(&request, port, &mut is_known, state) else { return Ok(()) };
        let mut out = (answer.len() as u32 + 4).to_be_bytes().to_vec();
        out.extend_from_slice(&request[4..8]);
        out.extend(answer);
        peer.stream.write_all(&out)?;
    }
}

/// The answer without its length and number; nothing where the connection is to end.
fn answer(request: &[u8], port: u16, is_known: &mut bool, state: &Mutex<State>) -> Option<Vec<u8>> {
    let mut cursor = Cursor(request);
    let (key, version) = (cursor.i16()?, cursor.i16()?);
    cursor.i32()?;
    cursor.text()?;
    let mut state = lock(state);
    match (key, version) {
        (SASL_HANDSHAKE, 1) => Some(handshake(&cursor.text()?)),
        (SASL_AUTHENTICATE, 0) => {
            let words = cursor.bytes()?;
            let (user, password) = state.login.clone().unwrap_or_default();
            *is_known = words == format!("\0{user}\0{password}").as_bytes();
            Some(authenticated(*is_known))
        }
        // A real one hangs up as well.
        _ if !*is_known => None,
        (METADATA, 4) => metadata(&mut cursor, port, state.partitions),
        (PRODUCE, 7) => produce(&mut cursor, &mut state),
        _ => {
            state.problems.push(format!("request {key} in version {version}"));
            None
        }
    }
}

fn handshake(mechanism: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let code: i16 = if mechanism == "PLAIN" { 0 } else { 33 };
    out.extend(code.to_be_bytes());
    out.extend(1_i32.to_be_bytes());
    put_text("PLAIN", &mut out);
    out
}

fn authenticated(is_known: bool) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(if is_known { 0 } else { SASL_AUTHENTICATION_FAILED }.to_be_bytes());
    put_text(if is_known { "" } else { "Invalid username or password" }, &mut out);
    out.extend(0_i32.to_be_bytes());
    out
}

/// One broker, which leads all partitions of all topics that are asked for.
fn metadata(cursor: &mut Cursor<'_>, port: u16, partitions: i32) -> Option<Vec<u8>> {
    let count = cursor.i32()?.max(0);
    let topics = (0..count).map(|_| cursor.text()).collect::<Option<Vec<_>>>()?;
    let mut out = Vec::new();
    let one = 1_i32.to_be_bytes();
    out.extend(0_i32.to_be_bytes());
    out.extend(one);
    out.extend(one);
    put_text("127.0.0.1", &mut out);
    out.extend(i32::from(port).to_be_bytes());
    out.extend((-1_i16).to_be_bytes());
    put_text("cluster", &mut out);
    out.extend(one);
    out.extend(count.to_be_bytes());
    for topic in topics {
        out.extend(0_i16.to_be_bytes());
        put_text(&topic, &mut out);
        out.push(0);
        out.extend(partitions.to_be_bytes());
        for partition in 0..partitions {
            out.extend(0_i16.to_be_bytes());
            out.extend(partition.to_be_bytes());
            // The leader, one replica, one in sync.
            [one; 5].iter().for_each(|part| out.extend(part));
        }
    }
    Some(out)
}

fn produce(cursor: &mut Cursor<'_>, state: &mut State) -> Option<Vec<u8>> {
    cursor.text()?;
    let (acks, _) = (cursor.i16()?, cursor.i32()?);
    if ![1, -1].contains(&acks) {
        state.problems.push(format!("{acks} acks"));
    }
    let code = if let KafkaMood::Refuses(code) = state.mood { code } else { 0 };
    let mut out = Vec::new();
    let topics = cursor.i32()?;
    out.extend(topics.to_be_bytes());
    for _ in 0..topics {
        let topic = cursor.text()?;
        put_text(&topic, &mut out);
        let partitions = cursor.i32()?;
        out.extend(partitions.to_be_bytes());
        for _ in 0..partitions {
            let (partition, batch) = (cursor.i32()?, cursor.bytes()?);
            match read_batch(batch, &topic, partition) {
                Ok(messages) if code == 0 => {
                    state.messages.extend(messages);
                    state.batches += 1;
                }
                Ok(_) => {}
                Err(problem) => state.problems.push(problem),
            }
            out.extend(partition.to_be_bytes());
            out.extend(code.to_be_bytes());
            [0_i64, -1, 0].iter().for_each(|number| out.extend(number.to_be_bytes()));
        }
    }
    out.extend(0_i32.to_be_bytes());
    if state.mood == KafkaMood::TakesAndHangsUp {
        state.mood = KafkaMood::Takes;
        return None;
    }
    Some(out)
}

fn put_text(text: &str, out: &mut Vec<u8>) {
    out.extend((text.len() as i16).to_be_bytes());
    out.extend_from_slice(text.as_bytes());
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
