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
use crate::{Ending, began::now_ns, ending::Unanswered, pauses::Pauses, sigv4::SigV4};

/// An answer is a sentence at most.
const ANSWER_BYTES_MAX: u64 = 1 << 20;

const UNSUPPORTED_MEDIA_TYPE: u16 = 415;

/// A thread that posts.
pub(crate) struct Poster {
    posts: Sender<Post>,
    ending: Ending,
}

struct Post {
    /// How long it waits first.
    after: Duration,
    body: Bytes,
    answered: SyncSender<Result<Answer, Refused>>,
}

/// What is the same in all requests.
pub(crate) enum To {
    /// They are posted.
    Http(Box<Destination>),
    /// They are calls of a method.
    Grpc(Method),
}

impl From<Destination> for To {
    fn from(destination: Destination) -> Self {
        Self::Http(Box::new(destination))
    }
}

/// Where requests are posted, and how.
pub(crate) struct Destination {
    /// Where they go.
    pub(crate) url: Url,
    /// Their headers.
    pub(crate) headers: RequestHeaders,
    /// How long one may take.
    pub(crate) deadline: Duration,
    /// Who signs them, if they are to be signed.
    pub(crate) signer: Option<SigV4>,
    /// A header that all answers have, if they come from somebody who understood.
    pub(crate) expects: Option<&'static str>,
}

impl Destination {
    /// One that takes requests as they are.
    pub(crate) fn new(url: Url, headers: RequestHeaders, deadline: Duration) -> Self {
        Self { url, headers, deadline, signer: None, expects: None }
    }
}

/// Adds user and password to headers, unless they say otherwise who it is.
pub(crate) fn authorize(headers: &mut RequestHeaders, basic: Option<&(String, String)>) {
    if let Some(basic) = basic
        && headers.get("Authorization").is_none()
    {
        headers.set("Authorization", &basic_auth(basic));
    }
}

/// The value of an `Authorization` header.
pub(crate) fn basic_auth((user, password): &(String, String)) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))
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
    /// Whether the format is one that the server does not know.
    pub(crate) is_not_understood: bool,
}

impl Refused {
    /// It may be taken later.
    pub(crate) fn for_now(why: String) -> Self {
        Self { why, may_be_taken_later: true, is_not_understood: false }
    }

    /// Nobody waits for the answer any longer.
    pub(crate) fn too_late() -> Self {
        Self::for_now("it has not answered in time".to_owned())
    }

    /// For good.
    pub(crate) fn for_good(why: String) -> Self {
        Self { why, may_be_taken_later: false, is_not_understood: false }
    }
}

impl Poster {
    /// Starts the thread. After the end nobody waits for an answer.
    ///
    /// # Errors
    /// When it or its network side cannot be set up.
    pub(crate) fn start(to: impl Into<To>, options: ClientOptions, ending: Ending) -> io::Result<Self> {
        let (posts, waiting) = channel();
        match to.into() {
            To::Http(to) => start_thread(options, move |connections| {
                serve(&waiting, |body| post(&to, connections, body));
            })?,
            To::Grpc(method) => start_thread(options, move |connections| {
                let mut caller = Caller::new(method);
                serve(&waiting, |body| caller.call(connections, &body));
            })?,
        }
        Ok(Self { posts, ending })
    }

    /// Posts after a while, and waits for the answer.
    ///
    /// # Errors
    /// Why it was not taken.
    pub(crate) fn post(&self, body: impl Into<Bytes>, after: Duration) -> Result<Answer, Refused> {
        let (answered, answer) = sync_channel(1);
        let gone = || Refused::for_good("the thread of an output ended".to_owned());
        self.posts.send(Post { after, body: body.into(), answered }).map_err(|_| gone())?;
        match self.ending.receive(&answer) {
            Ok(answer) => answer,
            Err(Unanswered::Over) => Err(Refused::too_late()),
            Err(Unanswered::Gone) => Err(gone()),
        }
    }
}

/// Starts a thread with connections of its own. Nothing else runs there: what it runs may wait for work as a thread would.
///
/// # Errors
/// When it or its network side cannot be set up.
pub(crate) fn start_thread(
    options: ClientOptions,
    serve: impl FnOnce(&mut Connections) + Send + 'static,
) -> io::Result<()> {
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
        onrush_fiber::spawn(None, move || serve(&mut Connections::new(shared)));
        reactor.run();
    })?;
    started.recv().unwrap_or_else(|_| Err(io::Error::other("the thread of an output ended")))
}

fn serve(posts: &Receiver<Post>, mut ask: impl FnMut(Bytes) -> Result<Answer, Refused>) {
    while let Ok(Post { after, body, answered }) = posts.recv() {
        if !after.is_zero() {
            // Nobody cancels this fiber.
            let _ = onrush_fiber::sleep_until(Clock::now() + after);
        }
        // Whoever asked may have given up.
        let _ = answered.send(ask(body));
    }
}

fn post(to: &Destination, connections: &Connections, body: Bytes) -> Result<Answer, Refused> {
    let mut head = Vec::new();
    match &to.signer {
        None => to.headers.write(&mut head),
        Some(signer) => {
            let mut headers = to.headers.clone();
            signer.sign(&mut headers, &to.url, &body, now_ns() / 1_000_000_000);
            headers.write(&mut head);
        }
    }
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
            if to.expects.is_some_and(|name| response.headers.get(name).is_none()) {
                let why = format!("it answered with status {} and says nothing of what it took", response.status);
                return Err(Refused { why, may_be_taken_later: false, is_not_understood: true });
            }
            let content_type = response.headers.get("content-type").map(String::from_utf8_lossy).unwrap_or_default();
            if content_type.trim_start().to_ascii_lowercase().starts_with("text/html") {
                // A login, or a proxy, before it.
                let why = "it answered with a web page (text/html): is this the address of a receiver?".to_owned();
                return Err(Refused::for_good(why));
            }
            Ok(Answer { content_type: content_type.into_owned(), body: response.body })
        }
        Ok(response) => Err(Refused {
            why: refusal(response.status, &response.body),
            may_be_taken_later: response.status >= 500 || [408, 425, 429].contains(&response.status),
            is_not_understood: response.status == UNSUPPORTED_MEDIA_TYPE,
        }),
        Err(failure) => Err(Refused::for_now(failure.error.message.to_string())),
    }
}

const USER_AGENT: &str = concat!("Onrush/", env!("CARGO_PKG_VERSION"));

/// How often what is left at the end is sent.
const LAST_TRIES: u32 = 5;

/// Sends what is left at the end, as long as somebody waits: `send` is given how long it waits first.
///
/// # Errors
/// Why it was not taken the last time.
pub(crate) fn last_tries(ending: &Ending, mut send: impl FnMut(Duration) -> Result<(), Refused>) -> Result<(), String> {
    let (mut tries, mut before) = (0, None);
    let (mut pauses, mut after) = (Pauses::default(), Duration::ZERO);
    loop {
        match send(after) {
            Ok(()) => return Ok(()),
            Err(refused) => {
                tries += 1;
                if ending.is_over() {
                    // The one that was given up says nothing of the receiver.
                    return Err(before.unwrap_or(refused.why));
                }
                if tries == LAST_TRIES || !refused.may_be_taken_later {
                    return Err(refused.why);
                }
                before = Some(refused.why);
                after = pauses.after_failure();
            }
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_will_not_pass_is_not_tried_again() {
        let check = |passes_after: usize, expect: &[u128]| {
            let mut waits = Vec::new();
            let result = last_tries(&Ending::default(), |after| {
                waits.push(after.as_millis());
                let why = "no".to_owned();
                Err(if waits.len() < passes_after { Refused::for_now(why) } else { Refused::for_good(why) })
            });
            assert_eq!((result, waits.as_slice()), (Err("no".to_owned()), expect));
        };
        check(3, &[0, 500, 1_000]);
        check(9, &[0, 500, 1_000, 2_000, 3_000]);
    }
}
