//! What is served beside the REST API: a run's records as server-sent events, its report, and the pages that show them.
//!
//! Whoever runs the test has the records ([`Source`]); nothing is kept for a client but its place in them, so a slow one
//! costs a few kilobytes, and one that reads nothing is hung up on.

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use tokio::sync::{Notify, Semaphore, mpsc, oneshot, watch};

use crate::{
    Page, Reply, Request,
    page::{Served, takes_gzip},
    routes::{Api, Asking, Shared, response},
};

/// Streams at once. One more takes the place of the oldest, whose client connects again if it is still there.
const STREAMS_MAX: usize = 64;
/// A client that takes nothing for so long is hung up on.
const STALL_TIME_MAX: Duration = Duration::from_secs(20);
/// Without news a stream says that it is there so often: proxies give up what is silent.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long a browser waits before it connects again.
const RETRY: &str = "retry: 1000\n\n";

/// Where the records of a run come from.
pub trait Source: Send + Sync + 'static {
    /// Begins behind the event with this id, or with the first one.
    fn open(&self, last_id: Option<&str>) -> Box<dyn Reader>;

    /// The report as of now. `summary` is the run's summary as JSON.
    fn report(&self, summary: serde_json::Value) -> String;
}

/// One client's way through the records.
pub trait Reader: Send {
    /// What comes next: some events, or nothing as long as there are none. It must not block.
    fn next(&mut self) -> Chunk;
}

/// Some events.
#[derive(Debug, Default)]
pub struct Chunk {
    /// Server-sent events.
    pub text: String,
    /// Nothing follows.
    pub is_over: bool,
}

/// Wakes streams when there are new records. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Bell(watch::Sender<()>);

impl Default for Bell {
    fn default() -> Self {
        Self(watch::Sender::new(()))
    }
}

impl Bell {
    /// There is something new.
    pub fn ring(&self) {
        self.0.send_replace(());
    }
}

/// What is served beside the REST API.
pub struct Site {
    source: Arc<dyn Source>,
    bell: Bell,
    pages: Vec<Served>,
    policy: &'static str,
    report_policy: &'static str,
    streams: Arc<Streams>,
    /// A report takes a moment of a core.
    reports: Arc<Semaphore>,
}

impl Site {
    /// The records alone.
    pub fn new(source: Arc<dyn Source>, bell: Bell) -> Self {
        let reports = Arc::new(Semaphore::new(1));
        Self { source, bell, pages: Vec::new(), policy: "", report_policy: "", streams: Arc::default(), reports }
    }

    /// Pages and what they may load, and what a report may.
    #[must_use]
    pub fn with_pages(mut self, pages: Vec<Page>, policy: &'static str, report_policy: &'static str) -> Self {
        self.pages = pages.into_iter().map(Served::new).collect();
        (self.policy, self.report_policy) = (policy, report_policy);
        self
    }

    /// Whether there are any.
    pub(crate) fn has_pages(&self) -> bool {
        !self.pages.is_empty()
    }

    /// The page at a path. Pages hold nothing of the run.
    pub(crate) fn page(&self, path: &str) -> Option<&Served> {
        self.pages.iter().find(|served| served.page.path == path)
    }

    /// The answer with a page to a request with these headers.
    pub(crate) fn show(&self, served: &Served, headers: &HeaderMap) -> Response {
        let Page { media_type, content, .. } = served.page;
        let is_packed = takes_gzip(headers);
        let body = if is_packed { Body::from(served.packed.clone()) } else { Body::from(content) };
        let mut response = answer(body, media_type, self.policy);
        response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        if is_packed {
            response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}

/// The streams that are being read, the oldest first.
#[derive(Debug, Default)]
struct Streams(Mutex<VecDeque<Arc<Notify>>>);

/// A place among them.
struct Place {
    streams: Arc<Streams>,
    hangup: Arc<Notify>,
}

impl Streams {
    fn enter(self: &Arc<Self>, hangup: Arc<Notify>) -> Place {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= STREAMS_MAX
            && let Some(oldest) = all.pop_front()
        {
            oldest.notify_one();
        }
        all.push_back(hangup.clone());
        Place { streams: self.clone(), hangup }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut all = self.streams.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|other| !Arc::ptr_eq(other, &self.hangup));
    }
}

/// `GET /events`, `GET /v1/stream`
pub(crate) async fn stream(State(shared): State<Shared>, headers: HeaderMap) -> Response {
    let Some(site) = &shared.site else { return no_stream() };
    let last_id = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let reader = site.source.open(last_id);
    let (sender, receiver) = mpsc::channel(1);
    let place = site.streams.enter(shared.hangup.clone());
    let (asking, bell) = (Asking::new(&shared.asking), site.bell.0.subscribe());
    tokio::spawn(async move {
        let _asking = asking;
        feed(reader, bell, &sender, &place.hangup).await;
    });
    answer(Body::new(Events(receiver)), "text/event-stream; charset=utf-8", "default-src 'none'")
}

async fn feed(
    mut reader: Box<dyn Reader>,
    mut bell: watch::Receiver<()>,
    sender: &mpsc::Sender<Bytes>,
    hangup: &Notify,
) {
    let mut text = RETRY.to_owned();
    loop {
        // What is rung from here on counts as news.
        bell.borrow_and_update();
        let chunk = reader.next();
        text.push_str(&chunk.text);
        if !text.is_empty() {
            match tokio::time::timeout(STALL_TIME_MAX, sender.send(std::mem::take(&mut text).into())).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return,
                Err(_) => return hangup.notify_one(),
            }
        }
        if chunk.is_over {
            return;
        }
        if !chunk.text.is_empty() {
            continue;
        }
        tokio::select! {
            changed = bell.changed() => if changed.is_err() { return },
            () = sender.closed() => return,
            () = tokio::time::sleep(KEEP_ALIVE) => text.push_str(":\n\n"),
        }
    }
}

/// What is fed, as a body.
struct Events(mpsc::Receiver<Bytes>);

impl http_body::Body for Events {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(cx).map(|bytes| bytes.map(|bytes| Ok(http_body::Frame::data(bytes))))
    }
}

/// `GET /report`
pub(crate) async fn report(api: Api) -> Response {
    let Some(site) = api.shared.site.clone() else { return no_stream() };
    let Ok(_one) = site.reports.clone().try_acquire_owned() else {
        return response(Reply::error(503, "Service Unavailable", "another report is being made: ask again"));
    };
    let summary = match api.ask(Request::Summary).await {
        Reply { status: 200, body: Some(text) } => serde_json::from_str(&text).unwrap_or_default(),
        refused => return response(refused),
    };
    let source = site.source.clone();
    let (sender, made) = oneshot::channel();
    // It takes a while, and other clients wait for this thread. Whoever asked may be gone when it is made.
    let make = move || drop(sender.send(source.report(summary)));
    let html = match std::thread::Builder::new().name("report".to_owned()).spawn(make) {
        Ok(_) => made.await.ok(),
        Err(_) => None,
    };
    match html {
        Some(html) => answer(Body::from(html), "text/html; charset=utf-8", site.report_policy),
        None => response(Reply::error(500, "Internal Server Error", "the report could not be made")),
    }
}

fn no_stream() -> Response {
    let detail = "this run keeps no stream: start it with --out web-dashboard, or with --report";
    response(Reply::error(404, "Not Found", detail))
}

/// What is shown stays here: no other page reads or embeds it, and nobody keeps it.
fn answer(body: Body, media_type: &'static str, policy: &'static str) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::OK;
    for (name, value) in [
        (header::CONTENT_TYPE, media_type),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response.headers_mut().insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    response
}
