//! What a request asks of the run, and what the run answers.

use std::time::Duration;

use serde_json::{Value, value::RawValue};
use tokio::sync::oneshot;

/// A request on its way to whoever runs the test.
#[derive(Debug)]
pub struct Call {
    /// What is wanted.
    pub request: Request,
    /// Who wants it, for the journal: an address and, if it said so, a program.
    pub source: String,
    reply: oneshot::Sender<Reply>,
}

impl Call {
    pub(crate) fn new(request: Request, source: String) -> (Self, oneshot::Receiver<Reply>) {
        let (reply, answer) = oneshot::channel();
        (Self { request, source, reply }, answer)
    }

    /// Sends the answer. Whoever asked may have gone away.
    pub fn answer(self, reply: Reply) {
        let _ = self.reply.send(reply);
    }
}

/// What can be asked.
#[derive(Debug)]
pub enum Request {
    /// `GET /v1/status`
    Status,
    /// `PATCH /v1/status`
    Change(Change),
    /// `GET /v1/metrics`
    Metrics,
    /// `GET /v1/metrics/{name}`
    Metric(String),
    /// `GET /v1/groups`
    Groups,
    /// `GET /v1/groups/{id}`
    Group(String),
    /// `GET /v1/setup`
    Setup,
    /// `POST /v1/setup`
    RunSetup,
    /// `PUT /v1/setup`: JSON, or nothing for `undefined`.
    SetSetup(Option<Box<RawValue>>),
    /// `POST /v1/teardown`
    RunTeardown,
    /// `GET /v1/scenarios`
    Scenarios,
    /// `GET /v1/scenarios/{name}`
    Scenario(String),
    /// `PATCH /v1/scenarios/{name}`
    Steer(String, ChangeRequest),
    /// `GET /v1/steering`
    Steering,
    /// The summary as `--summary-export` writes it, for `GET /report`.
    Summary,
}

/// What a `PATCH /v1/status` sets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// End the run.
    pub stopped: bool,
    /// Pause or resume.
    pub paused: Option<bool>,
    /// VUs and their limit, of the first externally-controlled scenario.
    pub wish: ChangeRequest,
}

/// What of a scenario is to be changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChangeRequest {
    /// VUs that loop.
    pub vus: Option<i64>,
    /// The limit of VUs.
    pub max_vus: Option<i64>,
    /// Iterations per `timeUnit`.
    pub rate: Option<i64>,
    /// How long VUs or rate take to get there.
    pub over: Option<Duration>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub(crate) status: u16,
    /// JSON.
    pub(crate) body: Option<String>,
}

impl Reply {
    /// 200 with JSON.
    pub fn ok(body: Value) -> Self {
        Self::text(body.to_string())
    }

    /// 200 with a text that is JSON.
    pub fn text(body: String) -> Self {
        Self { status: 200, body: Some(body) }
    }

    /// 200 without a body.
    pub fn empty() -> Self {
        Self { status: 200, body: None }
    }

    /// k6's shape of an error.
    pub fn error(status: u16, title: &str, detail: &str) -> Self {
        let error = serde_json::json!({"status": status.to_string(), "title": title, "detail": detail});
        Self { status, body: Some(serde_json::json!({"errors": [error]}).to_string()) }
    }
}
