//! Questions to a server of the caller's choice: one datagram, one answer, over TCP where that is too long.
//!
//! Unlike [`super::Resolver`] it caches nothing and asks once, because the server is what is being measured. Sockets are
//! those of a helper thread, which the first question starts.

use std::{net::SocketAddr, sync::OnceLock, time::Duration};

use hickory_resolver::proto::{
    op::{Message, Query},
    rr::{Name, RData, RecordType},
};
use onrush_fiber::{Nanos, Woke, block_on};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpStream, UdpSocket},
    runtime::Handle,
    sync::{Semaphore, oneshot},
};

use crate::error::NetError;

/// What is asked about a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordKind {
    /// IPv4 addresses.
    A,
    /// IPv6 addresses.
    Aaaa,
    /// Texts.
    Txt,
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryFailure {
    /// The server's response code (RFC 1035, 4.1.1 and later ones), which is not 0.
    #[error("the server answers with code {0}")]
    Code(u16),
    /// The name is none that can be asked for, or what came back is no answer.
    #[error("{0}")]
    Wrong(String),
    /// The network, or the wait.
    #[error("{0}")]
    Net(NetError),
}

/// How long a server has for its answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest answer over UDP that is looked at; the question says nothing of longer ones than 512 bytes.
const DATAGRAM_BYTES_MAX: usize = 4096;
/// Questions under way at once: each has a socket. Others wait.
const QUESTIONS_MAX: usize = 4096;
/// The bit of a message's third byte that tells answers from questions.
const IS_ANSWER: u8 = 0x80;
/// Where servers listen.
const PORT: u16 = 53;

/// Asks `server` about `name`, and gives the records as texts. Suspends the fiber.
///
/// # Errors
/// See [`QueryFailure`].
pub fn query(
    server: SocketAddr,
    name: &str,
    kind: RecordKind,
    deadline: Option<Nanos>,
) -> Result<Vec<String>, QueryFailure> {
    let wrong = |reason: String| QueryFailure::Wrong(reason);
    let mut asked = Name::from_utf8(name).map_err(|error| wrong(format!("{name:?} is no name: {error}")))?;
    asked.set_fqdn(true);
    let kind = match kind {
        RecordKind::A => RecordType::A,
        RecordKind::Aaaa => RecordType::AAAA,
        RecordKind::Txt => RecordType::TXT,
    };
    let mut message = Message::query();
    message.metadata.recursion_desired = true;
    message.add_query(Query::query(asked, kind));
    let question = message.to_vec().map_err(|error| wrong(format!("{name:?} is no name: {error}")))?;
    let (sender, receiver) = oneshot::channel();
    let task = helper().map_err(wrong)?.spawn(async move {
        let answered = tokio::time::timeout(ANSWER_TIMEOUT, ask(server, question, message)).await;
        // Whoever asked may be gone.
        let _ = sender.send(answered.unwrap_or_else(|_| Err(QueryFailure::Net(NetError::timeout()))));
    });
    let answer = match block_on(Box::pin(receiver), deadline) {
        Ok(Ok(answer)) => answer?,
        Ok(Err(_)) => return Err(wrong("the thread that asks has ended".to_owned())),
        Err(woke) => {
            task.abort();
            return Err(QueryFailure::Net(if woke == Woke::Cancelled {
                NetError::cancelled()
            } else {
                NetError::timeout()
            }));
        }
    };
    let code = u16::from(answer.metadata.response_code);
    if code != 0 {
        return Err(QueryFailure::Code(code));
    }
    Ok(answer
        .answers
        .iter()
        .filter(|record| record.record_type() == kind)
        .filter_map(|record| text(&record.data))
        .collect())
}

fn text(data: &RData) -> Option<String> {
    match data {
        RData::A(ip) => Some(ip.0.to_string()),
        RData::AAAA(ip) => Some(ip.0.to_string()),
        RData::TXT(txt) => Some(txt.txt_data.iter().map(|part| String::from_utf8_lossy(part)).collect()),
        _ => None,
    }
}

async fn ask(server: SocketAddr, question: Vec<u8>, message: Message) -> Result<Message, QueryFailure> {
    static TURNS: Semaphore = Semaphore::const_new(QUESTIONS_MAX);
    let _turn = TURNS.acquire().await.map_err(|error| QueryFailure::Wrong(error.to_string()))?;
    let answer = over_udp(server, &question, &message).await?;
    if answer.metadata.truncation { over_tcp(server, &question, &message).await } else { Ok(answer) }
}

async fn over_udp(server: SocketAddr, question: &[u8], message: &Message) -> Result<Message, QueryFailure> {
    let any: SocketAddr = if server.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() };
    let failed = |error: std::io::Error| QueryFailure::Wrong(format!("udp {server}: {}", error.kind()));
    let socket = UdpSocket::bind(any).await.map_err(failed)?;
    socket.connect(server).await.map_err(failed)?;
    socket.send(question).await.map_err(failed)?;
    let mut buffer = vec![0; DATAGRAM_BYTES_MAX];
    loop {
        let count = socket.recv(&mut buffer).await.map_err(failed)?;
        // What is for another question is passed over, as if it had not come.
        if buffer[..count].get(..2) == question.get(..2) {
            return read(&buffer[..count], message);
        }
    }
}

async fn over_tcp(server: SocketAddr, question: &[u8], message: &Message) -> Result<Message, QueryFailure> {
    let failed = |error: std::io::Error| QueryFailure::Wrong(format!("tcp {server}: {}", error.kind()));
    let mut stream = TcpStream::connect(server).await.map_err(failed)?;
    let length = u16::try_from(question.len()).unwrap_or(u16::MAX);
    stream.write_all(&[&length.to_be_bytes()[..], question].concat()).await.map_err(failed)?;
    let length = stream.read_u16().await.map_err(failed)?;
    let mut bytes = vec![0; usize::from(length)];
    stream.read_exact(&mut bytes).await.map_err(failed)?;
    read(&bytes, message)
}

fn read(bytes: &[u8], question: &Message) -> Result<Message, QueryFailure> {
    if bytes.get(2).is_some_and(|flags| flags & IS_ANSWER == 0) {
        return Err(QueryFailure::Wrong("the answer is a question".to_owned()));
    }
    let answer =
        Message::from_vec(bytes).map_err(|error| QueryFailure::Wrong(format!("the answer cannot be read: {error}")))?;
    if answer.metadata.id != question.metadata.id || (answer.queries != question.queries && !answer.queries.is_empty())
    {
        return Err(QueryFailure::Wrong("the answer is to another question".to_owned()));
    }
    Ok(answer)
}

/// The helper thread's runtime.
fn helper() -> Result<&'static Handle, String> {
    static HELPER: OnceLock<Result<Handle, String>> = OnceLock::new();
    let started = HELPER.get_or_init(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let handle = runtime.handle().clone();
        std::thread::Builder::new()
            .name("dns-questions".to_owned())
            .spawn(move || runtime.block_on(std::future::pending::<()>()))
            .map_err(|error| format!("cannot start a thread: {error}"))?;
        Ok(handle)
    });
    started.as_ref().map_err(Clone::clone)
}

/// The address a text such as `8.8.8.8:53` or `[::1]` stands for; without a port it is 53.
pub fn server_address(text: &str) -> Option<SocketAddr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    let ip = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    Some(SocketAddr::new(ip.parse().ok()?, PORT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers() {
        let check = |text: &str, expect: Option<&str>| {
            assert_eq!(server_address(text).map(|address| address.to_string()).as_deref(), expect, "{text}");
        };
        check("127.0.0.1:5353", Some("127.0.0.1:5353"));
        check("127.0.0.1", Some("127.0.0.1:53"));
        check("[::1]:5353", Some("[::1]:5353"));
        check("[::1]", Some("[::1]:53"));
        check("::1", Some("[::1]:53"));
        check("dns.example:53", None);
        check("127.0.0.1:99999", None);
        check("", None);
    }
}
