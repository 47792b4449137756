//! The endpoints: from requests to calls, and from answers to responses.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, Path, Request as HttpRequest, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::{self, Next},
    response::Response,
    routing::{get, post},
};
use tokio::sync::Notify;

use crate::{
    Reply, Request,
    guard::Guard,
    serve::{Deliver, REQUEST_TIME_MAX},
    shape,
    site::{self, Site},
};

/// Largest body: setup data of real tests has some kilobytes.
pub(crate) const BODY_BYTES_MAX: usize = 4 << 20;

/// What handlers share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) deliver: Deliver,
    pub(crate) guard: Arc<Guard>,
    pub(crate) peer: SocketAddr,
    /// Requests of the connection that wait for an answer.
    pub(crate) asking: Arc<AtomicUsize>,
    /// All its requests so far.
    pub(crate) asked: Arc<AtomicUsize>,
    /// Ends the connection.
    pub(crate) hangup: Arc<Notify>,
    /// What is served beside the REST API.
    pub(crate) site: Option<Arc<Site>>,
}

/// All endpoints.
pub(crate) fn router(shared: Shared) -> Router {
    let router = match shared.site.as_ref().is_some_and(|site| site.has_pages()) {
        true => Router::new().route("/events", get(site::stream)).route("/report", get(site::report)),
        false => Router::new().route("/", get(|| async { "ok" })),
    };
    router
        .route("/v1/stream", get(site::stream))
        .route("/ping", get(|| async { "ok" }))
        .route("/v1/status", get(|api: Api| async { api.call(Request::Status).await }).patch(change))
        .route("/v1/metrics", get(|api: Api| async { api.call(Request::Metrics).await }))
        .route("/v1/metrics/{id}", get(|api: Api, Id(id): Id| async { api.call(Request::Metric(id)).await }))
        .route("/v1/groups", get(|api: Api| async { api.call(Request::Groups).await }))
        .route("/v1/groups/{id}", get(|api: Api, Id(id): Id| async { api.call(Request::Group(id)).await }))
        .route(
            "/v1/setup",
            get(|api: Api| async { api.call(Request::Setup).await })
                .post(|api: Api| async { api.call(Request::RunSetup).await })
                .put(set_setup),
        )
        .route("/v1/teardown", post(|api: Api| async { api.call(Request::RunTeardown).await }))
        .route("/v1/scenarios", get(|api: Api| async { api.call(Request::Scenarios).await }))
        .route(
            "/v1/scenarios/{name}",
            get(|api: Api, Id(name): Id| async { api.call(Request::Scenario(name)).await }).patch(steer),
        )
        .route("/v1/steering", get(|api: Api| async { api.call(Request::Steering).await }))
        .fallback(|| async { response(Reply::error(404, "Not Found", "No such endpoint")) })
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(middleware::from_fn_with_state(shared.clone(), guarded))
        .with_state(shared)
}

/// No request gets past the guard, and none takes for ever.
async fn guarded(State(shared): State<Shared>, request: HttpRequest, next: Next) -> Response {
    let page = shared.site.as_ref().and_then(|site| Some((site, site.page(request.uri().path())?)));
    if let Some((site, page)) = page.filter(|_| [Method::GET, Method::HEAD].contains(request.method())) {
        // A browser shows it before anybody can give it a token. The body stays here if only the head was asked for.
        return shared
            .guard
            .check_place(request.headers())
            .map_or_else(response, |()| site.show(page, request.headers()));
    }
    if let Err(reply) = shared.guard.check(request.headers()) {
        return response(reply);
    }
    match tokio::time::timeout(REQUEST_TIME_MAX, next.run(request)).await {
        Ok(response) => response,
        Err(_) => response(Reply::error(
            504,
            "Timeout",
            &format!("there was no answer within {} seconds", REQUEST_TIME_MAX.as_secs()),
        )),
    }
}

/// What every handler gets.
pub(crate) struct Api {
    pub(crate) shared: Shared,
    source: String,
}

impl axum::extract::FromRequestParts<Shared> for Api {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(
        parts: &mut axum::http::request::Parts,
        shared: &Shared,
    ) -> Result<Self, Self::Rejection> {
        Ok(Self { source: source(shared.peer, &parts.headers), shared: shared.clone() })
    }
}

/// The last part of a path.
struct Id(String);

impl axum::extract::FromRequestParts<Shared> for Id {
    type Rejection = Response;

    async fn from_request_parts(
        parts: &mut axum::http::request::Parts,
        shared: &Shared,
    ) -> Result<Self, Self::Rejection> {
        match Path::from_request_parts(parts, shared).await {
            Ok(Path(id)) => Ok(Self(id)),
            Err(_) => Err(response(Reply::error(400, "Bad Request", "the path is not valid UTF-8"))),
        }
    }
}

/// Counts as long as a request waits, however that ends: one that is cut off at [`REQUEST_TIME_MAX`] is dropped.
pub(crate) struct Asking(Arc<AtomicUsize>);

impl Asking {
    pub(crate) fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Api {
    async fn call(self, request: Request) -> Response {
        response(self.ask(request).await)
    }

    pub(crate) async fn ask(self, request: Request) -> Reply {
        let (call, answer) = crate::Call::new(request, self.source);
        let _asking = Asking::new(&self.shared.asking);
        self.shared.asked.fetch_add(1, Ordering::Relaxed);
        (self.shared.deliver)(call);
        let reply = answer.await;
        // A call that was dropped was not answered.
        reply.unwrap_or_else(|_| Reply::error(503, "Service Unavailable", "the run is about to end"))
    }
}

async fn change(api: Api, body: Result<Bytes, axum::extract::rejection::BytesRejection>) -> Response {
    match read(body, "Couldn't read request").and_then(|body| shape::change(&body)) {
        Ok(change) => api.call(Request::Change(change)).await,
        Err(reply) => response(reply),
    }
}

async fn steer(api: Api, Id(name): Id, body: Result<Bytes, axum::extract::rejection::BytesRejection>) -> Response {
    match read(body, "Couldn't read request").and_then(|body| shape::wish(&body)) {
        Ok(wish) => api.call(Request::Steer(name, wish)).await,
        Err(reply) => response(reply),
    }
}

async fn set_setup(api: Api, body: Result<Bytes, axum::extract::rejection::BytesRejection>) -> Response {
    match read(body, "Error reading request body").and_then(|body| shape::setup_data(&body)) {
        Ok(data) => api.call(Request::SetSetup(data)).await,
        Err(reply) => response(reply),
    }
}

fn read(body: Result<Bytes, axum::extract::rejection::BytesRejection>, title: &str) -> Result<Bytes, Reply> {
    body.map_err(|rejection| {
        let detail = match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => format!("the body is larger than {BODY_BYTES_MAX} bytes"),
            _ => rejection.body_text(),
        };
        Reply::error(rejection.status().as_u16(), title, &detail)
    })
}

pub(crate) fn response(reply: Reply) -> Response {
    let text = reply.body;
    let is_json = text.is_some();
    let mut response = Response::new(text.map_or_else(Body::empty, Body::from));
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if is_json {
        let json = HeaderValue::from_static("application/json; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
    }
    response
}

/// An address and, if it said so, a program: `127.0.0.1 (curl/8.5.0)`.
fn source(peer: SocketAddr, headers: &HeaderMap) -> String {
    /// More of a program's name says nothing more.
    const PROGRAM_MAX: usize = 60;
    let program = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let program: String = program.chars().filter(|char| !char.is_control()).take(PROGRAM_MAX).collect();
    if program.is_empty() { peer.ip().to_string() } else { format!("{} ({program})", peer.ip()) }
}

#[cfg(test)]
mod tests {
    use std::{sync::Mutex, time::Duration};

    use super::*;

    #[test]
    fn a_request_that_is_cut_off_asks_no_more() {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&calls);
        let shared = Shared {
            deliver: Arc::new(move |call| kept.lock().expect("no panic").push(call)),
            guard: Arc::new(Guard { token: None, own_host: String::new() }),
            peer: SocketAddr::from(([127, 0, 0, 1], 1)),
            asking: Arc::default(),
            asked: Arc::default(),
            hangup: Arc::default(),
            site: None,
        };
        let asking = Arc::clone(&shared.asking);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            let call = Api { shared, source: String::new() }.call(Request::Status);
            assert!(tokio::time::timeout(Duration::from_millis(1), call).await.is_err());
        });
        assert_eq!((calls.lock().expect("no panic").len(), asking.load(Ordering::Relaxed)), (1, 0));
    }
}
