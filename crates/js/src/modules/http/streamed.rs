//! Requests whose responses are read as they arrive, for modules that stream: the same hops, cookies and samples as those
//! of `k6/http`, one response's body at a time. No JavaScript runs here.

use std::{rc::Rc, sync::Arc};

use onrush_fiber::{Clock, Nanos};
use onrush_metrics::TagNode;
use onrush_net::{Download, Failure, HeaderBlock, NetError, Response, Timings, encoding};

use super::{
    arguments::{self, Prepared, Refused},
    debug,
    hop::Hop,
    sample, send,
};
use crate::{
    embed::{Ctx, Handle, JsResult, Throw},
    realm::throttle,
    vu::Vu,
};

/// A request that is ready to be sent.
pub(in crate::modules) struct Ask {
    prepared: Rc<Prepared>,
    /// Header lines that go with it unless the script gives them.
    defaults: &'static [(&'static str, &'static str)],
}

/// A response whose body is still to be read.
pub(in crate::modules) struct Streamed {
    prepared: Rc<Prepared>,
    hop: Box<Hop>,
    response: Box<Response>,
    download: Box<Download>,
}

/// A request that failed; its samples are made.
pub(in crate::modules) struct Lost {
    /// As k6 logs it.
    pub(in crate::modules) text: String,
    /// The script wants an exception.
    pub(in crate::modules) throws: bool,
}

impl Ask {
    /// Reads what `k6/http` would be asked.
    ///
    /// # Errors
    /// What the script's getters throw; the inner one is what is wrong with the request.
    pub(in crate::modules) fn read(
        ctx: Ctx,
        vu: &Vu,
        method: &Handle,
        url: &Handle,
        body: &Handle,
        params: &Handle,
        defaults: &'static [(&'static str, &'static str)],
    ) -> JsResult<Result<Self, Lost>> {
        let method = arguments::method(ctx, method)?;
        Ok(match arguments::prepare(ctx, vu, method, url, body, params)? {
            Ok(prepared) => Ok(Self { prepared, defaults }),
            Err(Refused { error, throw }) => Err(Lost { text: error.detail, throws: throw }),
        })
    }

    /// The `timeout` parameter, or the default of requests.
    pub(in crate::modules) fn timeout_ns(&self) -> u64 {
        self.prepared.params.timeout_ns
    }

    /// Sends it, follows redirects, and reads the head of the answer. Suspends the fiber.
    ///
    /// # Errors
    /// When the VU was cancelled; the inner one is why there is no answer.
    pub(in crate::modules) fn send(self, vu: &Vu, deadline: Option<Nanos>) -> JsResult<Result<Streamed, Lost>> {
        throttle::wait(&vu.thread.config)?;
        let prepared = self.prepared.clone();
        let answer = answer(vu, self.prepared, self.defaults, deadline, &mut String::new())?;
        Ok(answer.map_err(|unanswered| {
            let Unanswered { hop, failure } = unanswered;
            sample::failure(vu, &prepared, &hop, &failure);
            let text = failure.error.log_text(&hop.method, &hop.url(&prepared).log_text());
            Lost { text, throws: prepared.params.throw }
        }))
    }
}

/// A request without an answer; its samples are still to be made.
pub(super) struct Unanswered {
    pub(super) hop: Box<Hop>,
    pub(super) failure: Box<Failure>,
}

/// Sends a request, follows redirects, and reads the head of the answer. `sent_cookies` are those of its first hop.
/// Suspends the fiber.
///
/// # Errors
/// When the VU was cancelled; the inner one is why there is no answer.
pub(super) fn answer(
    vu: &Vu,
    prepared: Rc<Prepared>,
    defaults: &[(&str, &str)],
    deadline: Option<Nanos>,
    sent_cookies: &mut String,
) -> JsResult<Result<Streamed, Unanswered>> {
    let redirects_max = prepared.params.redirects.unwrap_or(vu.thread.config.http.max_redirects);
    let mut hop = Box::new(Hop::first(&prepared));
    if prepared.fault.is_some() {
        return Ok(Err(Unanswered { hop, failure: send::fault_before_sending(&prepared) }));
    }
    loop {
        let asked = one_hop(vu, &prepared, &hop, defaults, deadline, sent_cookies);
        if onrush_fiber::is_cancelled() {
            sample::interrupted(vu, &prepared, &hop);
            return Err(Throw::Interrupted);
        }
        let followed = asked.and_then(|(response, download)| {
            let answer = send::follow(vu, &prepared, &mut hop, response, redirects_max)?;
            Ok(match answer {
                Some(response) => Some((response, download)),
                None => {
                    pass_over(vu, download, deadline);
                    None
                }
            })
        });
        match followed {
            Ok(Some((response, download))) => return Ok(Ok(Streamed { prepared, hop, response, download })),
            Ok(None) => {}
            Err(failure) => return Ok(Err(Unanswered { hop, failure })),
        }
    }
}

fn one_hop(
    vu: &Vu,
    prepared: &Prepared,
    hop: &Hop,
    defaults: &[(&str, &str)],
    deadline: Option<Nanos>,
    sent_cookies: &mut String,
) -> Result<(Box<Response>, Box<Download>), Box<Failure>> {
    let url = hop.url(prepared);
    let mut head = hop.head(vu, prepared, url, sent_cookies).into_owned();
    for (name, value) in defaults {
        if prepared.params.headers.get(name).is_none() {
            head.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
    }
    let user_agent = prepared.params.user_agent.as_deref().unwrap_or(&vu.thread.config.http.user_agent);
    let request = hop.request(prepared, url, &head, user_agent);
    let shown = debug::request(vu, prepared, &request);
    let answer = vu.connections.download(&request, Clock::now(), deadline);
    if let (Some(shown), Ok((response, _))) = (shown, &answer) {
        shown.response(vu, response);
    }
    answer
}

/// Reads the little that a redirect has for a body, so that its connection can be used again.
#[expect(clippy::boxed_local, reason = "it is boxed everywhere")]
fn pass_over(vu: &Vu, mut download: Box<Download>, deadline: Option<Nanos>) {
    let mut body = Vec::new();
    while body.len() <= REDIRECT_BYTES_MAX {
        match download.read(&mut body, deadline) {
            Ok(true) => {}
            Ok(false) => return download.finish(&vu.connections),
            Err(_) => return,
        }
    }
}

impl Streamed {
    pub(in crate::modules) fn status(&self) -> u16 {
        self.response.status
    }

    pub(in crate::modules) fn headers(&self) -> &HeaderBlock {
        &self.response.headers
    }

    /// The head of the response, once more.
    pub(super) fn head(&self) -> Box<Response> {
        Box::new(self.response.head())
    }

    /// The URL that was answered, where it is not the script's.
    pub(super) fn shown_url(&self) -> Option<Arc<str>> {
        self.hop.shown_url(true)
    }

    /// The phases so far.
    pub(super) fn timings(&self) -> Timings {
        self.download.timings()
    }

    /// Reads what is there already, up to a limit, so that the connection of a short body that nobody wants can be used again.
    pub(super) fn drain(&mut self) {
        let mut piece = Vec::new();
        let end = self.download.body_len() + UNWANTED_BYTES_MAX;
        while self.download.body_len() < end && matches!(self.download.read(&mut piece, Some(Clock::now())), Ok(true)) {
            piece.clear();
        }
    }

    /// What undoes the encodings of the body; `None` where there are none.
    ///
    /// # Errors
    /// When the body has encodings that are not undone.
    pub(in crate::modules) fn decoder(&self) -> Result<Option<encoding::Decoder>, NetError> {
        match self.response.headers.content_encoding() {
            Some(list) => encoding::Decoder::new(&list),
            None => Ok(None),
        }
    }

    /// The tags of its samples.
    pub(in crate::modules) fn node(&self, vu: &Vu) -> TagNode {
        sample::node(vu, &self.prepared, &self.hop, &self.response)
    }

    /// Waits for the next piece of the body; see [`Download::read`].
    ///
    /// # Errors
    /// As there.
    pub(in crate::modules) fn read(&mut self, out: &mut Vec<u8>, deadline: Option<Nanos>) -> Result<bool, NetError> {
        self.download.read(out, deadline)
    }

    /// It is over: makes its samples, and leaves the connection to others if the body was read to its end.
    pub(in crate::modules) fn end(mut self, vu: &Vu, error: Option<&NetError>) {
        self.response.timings = self.download.timings();
        sample::response(vu, &self.prepared, &self.hop, &self.response, error);
        self.download.finish(&vu.connections);
    }

    /// The VU is cut while it reads.
    pub(in crate::modules) fn interrupted(&self, vu: &Vu) {
        sample::interrupted(vu, &self.prepared, &self.hop);
    }
}

/// What is read of a body that nobody wants: more than a page of an error, less than a download.
const UNWANTED_BYTES_MAX: u64 = 64 << 10;
/// What is read of a redirect's body.
const REDIRECT_BYTES_MAX: usize = 16 << 10;
