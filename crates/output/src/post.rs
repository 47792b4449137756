//! Requests to servers that take results, from a thread of their own: fibers wait for sockets, whoever asks waits for the fiber.

use std::{
    io,
    sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel},
    time::Duration,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use onrush_fiber::{Clock, Reactor, ReactorConfig};
use onrush_net::{Body, BodyMode, ClientOptions, Connections, Limits, Request, RequestHeaders, Url};

use crate::{began::now_ns, sigv4::SigV4};

/// An answer is a sentence at most.
const ANSWER_BYTES_MAX: u64 = 1 << 20;

const UNSUPPORTED_MEDIA_TYPE: u16 = 415;

/// A thread that posts.
pub(crate) struct Poster(Sender<Post>);

struct Post {
    /// How long it waits first.
    after: Duration,
    body: Bytes,
    answered: SyncSender<Result<(), Refused>>,
}

/// What is the same in all requests.
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
    if let Some((user, password)) = basic
        && headers.get("Authorization").is_none()
    {
        headers.set("Authorization", &format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}"))));
    }
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
    /// For good.
    pub(crate) fn for_good(why: String) -> Self {
        Self { why, may_be_taken_later: false, is_not_understood: false }
    }
}

impl Poster {
    /// Starts the thread.
    ///
    /// # Errors
    /// When it or its network side cannot be set up.
    pub(crate) fn start(to: Destination, options: ClientOptions) -> io::Result<Self> {
        let (posts, waiting) = channel();
        start_thread(options, move |connections| serve(&to, connections, &waiting))?;
        Ok(Self(posts))
    }

    /// Posts after a while, and waits for the answer.
    ///
    /// # Errors
    /// Why it was not taken.
    pub(crate) fn post(&self, body: impl Into<Bytes>, after: Duration) -> Result<(), Refused> {
        let (answered, answer) = sync_channel(1);
        let gone = || Refused::for_good("the thread of an output ended".to_owned());
        self.0.send(Post { after, body: body.into(), answered }).map_err(|_| gone())?;
        answer.recv().unwrap_or_else(|_| Err(gone()))
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

fn serve(to: &Destination, connections: &mut Connections, posts: &Receiver<Post>) {
    while let Ok(Post { after, body, answered }) = posts.recv() {
        if !after.is_zero() {
            // Nobody cancels this fiber.
            let _ = onrush_fiber::sleep_until(Clock::now() + after);
        }
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
            user_agent: Some(concat!("Onrush/", env!("CARGO_PKG_VERSION"))),
            is_http1: false,
        };
        let start = Clock::now();
        let result = match connections.exchange(&request, BodyMode::Keep, start, Some(start + to.deadline)) {
            Ok(response) if (200..300).contains(&response.status) => {
                let is_understood = to.expects.is_none_or(|name| response.headers.get(name).is_some());
                let why = format!("it answered with status {} and says nothing of what it took", response.status);
                let refused = Refused { why, may_be_taken_later: false, is_not_understood: true };
                if is_understood { Ok(()) } else { Err(refused) }
            }
            Ok(response) => Err(Refused {
                why: refusal(response.status, &response.body),
                may_be_taken_later: response.status >= 500 || [408, 425, 429].contains(&response.status),
                is_not_understood: response.status == UNSUPPORTED_MEDIA_TYPE,
            }),
            Err(failure) => Err(Refused {
                why: failure.error.message.to_string(),
                may_be_taken_later: true,
                is_not_understood: false,
            }),
        };
        // Whoever asked may have given up.
        let _ = answered.send(result);
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
