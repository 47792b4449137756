//! Requests to servers that take results, from a thread of their own: fibers wait for sockets, whoever asks waits for the fiber.

mod grpc;

use std::{
    io,
    sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel},
    time::Duration,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use onrush_fiber::{Clock, Reactor, ReactorConfig};
use onrush_net::{Body, BodyMode, ClientOptions, Connections, Limits, Request, RequestHeaders, Url};

use self::grpc::Caller;
pub(crate) use self::grpc::Method;

/// An answer is a sentence at most.
const ANSWER_BYTES_MAX: u64 = 1 << 20;

/// A thread that posts.
pub(crate) struct Poster(Sender<Post>);

struct Post {
    /// How long it waits first.
    after: Duration,
    body: Bytes,
    answered: SyncSender<Result<Answer, Refused>>,
}

/// What is the same in all requests.
pub(crate) enum To {
    /// They are posted.
    Http(Destination),
    /// They are calls of a method.
    Grpc(Method),
}

impl From<Destination> for To {
    fn from(destination: Destination) -> Self {
        Self::Http(destination)
    }
}

/// Where requests are posted.
pub(crate) struct Destination {
    /// Where they go.
    pub(crate) url: Url,
    /// Their headers.
    pub(crate) headers: RequestHeaders,
    /// How long one may take.
    pub(crate) deadline: Duration,
}

/// What a server says about a request it took.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// As it says; empty where it does not.
    pub(crate) content_type: String,
    /// Its message.
    pub(crate) body: Bytes,
}

/// Why a request was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    /// For people.
    pub(crate) why: String,
    /// Whether the same may be taken later: there was no answer, or one that says so.
    pub(crate) may_be_taken_later: bool,
}

impl Poster {
    /// Starts the thread.
    ///
    /// # Errors
    /// When it or its network side cannot be set up.
    pub(crate) fn start(to: impl Into<To>, options: ClientOptions) -> io::Result<Self> {
        let to = to.into();
        let (posts, waiting) = channel();
        let (ready, started) = sync_channel(1);
        std::thread::Builder::new().name("post".to_owned()).spawn(move || {
            let network = || -> io::Result<_> {
                let limits = Limits { body_bytes_max: ANSWER_BYTES_MAX, ..options.limits };
                let shared = ClientOptions { limits, ..options }.build_thread().map_err(io::Error::other)?;
                Ok((Reactor::new(ReactorConfig::default())?, shared))
            };
            let (reactor, shared) = match network() {
                Ok(network) => network,
                Err(error) => return drop(ready.send(Err(error))),
            };
            let _ = ready.send(Ok(()));
            // Nothing else runs on this thread: the fiber may wait for posts as a thread would.
            onrush_fiber::spawn(None, move || serve(to, &Connections::new(shared), &waiting));
            reactor.run();
        })?;
        started.recv().unwrap_or_else(|_| Err(io::Error::other("the thread of an output ended")))?;
        Ok(Self(posts))
    }

    /// Posts after a while, and waits for the answer.
    ///
    /// # Errors
    /// Why it was not taken.
    pub(crate) fn post(&self, body: Vec<u8>, after: Duration) -> Result<Answer, Refused> {
        let (answered, answer) = sync_channel(1);
        let gone = || Refused { why: "the thread of an output ended".to_owned(), may_be_taken_later: false };
        self.0.send(Post { after, body: Bytes::from(body), answered }).map_err(|_| gone())?;
        answer.recv().unwrap_or_else(|_| Err(gone()))
    }
}

fn serve(to: To, connections: &Connections, posts: &Receiver<Post>) {
    let ask: Box<dyn FnMut(Bytes) -> Result<Answer, Refused>> = match to {
        To::Http(destination) => Box::new(posting(destination, connections)),
        To::Grpc(method) => Box::new(calling(method, connections)),
    };
    let mut ask = ask;
    while let Ok(Post { after, body, answered }) = posts.recv() {
        if !after.is_zero() {
            // Nobody cancels this fiber.
            let _ = onrush_fiber::sleep_until(Clock::now() + after);
        }
        // Whoever asked may have given up.
        let _ = answered.send(ask(body));
    }
}

fn posting(to: Destination, connections: &Connections) -> impl FnMut(Bytes) -> Result<Answer, Refused> {
    let mut head = Vec::new();
    to.headers.write(&mut head);
    move |body| {
        let request = Request {
            method: "POST",
            url: &to.url,
            head: &head,
            host: None,
            body: &Body::Bytes(body),
            user_agent: Some(USER_AGENT),
            is_http1: false,
        };
        let start = Clock::now();
        match connections.exchange(&request, BodyMode::Keep, start, Some(start + to.deadline)) {
            Ok(response) if (200..300).contains(&response.status) => {
                let content_type =
                    response.headers.get("content-type").map(String::from_utf8_lossy).unwrap_or_default();
                Ok(Answer { content_type: content_type.into_owned(), body: response.body })
            }
            Ok(response) => Err(Refused {
                why: refusal(response.status, &response.body),
                may_be_taken_later: response.status >= 500 || [408, 425, 429].contains(&response.status),
            }),
            Err(failure) => Err(Refused { why: failure.error.message.to_string(), may_be_taken_later: true }),
        }
    }
}

fn calling(method: Method, connections: &Connections) -> impl FnMut(Bytes) -> Result<Answer, Refused> {
    let mut caller = Caller::new(method);
    move |body| caller.call(connections, &body)
}

const USER_AGENT: &str = concat!("Onrush/", env!("CARGO_PKG_VERSION"));

/// The value of an `Authorization` header.
pub fn basic_auth(user: &str, password: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))
}

/// What a server says about a request it did not take.
fn refusal(status: u16, body: &[u8]) -> String {
    /// Bytes of a reason that are shown.
    const REASON_MAX: usize = 300;
    let body = String::from_utf8_lossy(body);
    let reason = body.trim().lines().next().unwrap_or_default();
    let reason = &reason[..reason.floor_char_boundary(REASON_MAX)];
    if reason.is_empty() {
        format!("it answered with status {status}")
    } else {
        format!("it answered with status {status}: {reason}")
    }
}
