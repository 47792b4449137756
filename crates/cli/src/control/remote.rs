//! Where a running test is asked: at its own REST API, or through a coordinator that serves many runs.

use onrush_cluster::User;
use onrush_server::{Address, Answer, Client, ClientError, Fingerprint, TlsError, Trust};
use serde_json::Value;

use crate::{args::ApiArgs, context::Context, failure::Failure, pool};

/// The REST API of a test.
pub(super) enum Remote {
    /// At an address of its own.
    Direct(Client),
    /// Through the coordinator of `--on`.
    Through {
        /// Asks it.
        user: User,
        /// The run that is meant.
        run: String,
    },
}

impl Remote {
    /// The one that the flags name.
    ///
    /// # Errors
    /// When they name none, or several could be meant.
    pub(super) fn new(cx: &Context) -> Result<Self, Failure> {
        if cx.flags.text("on").is_some() {
            return Self::through(cx);
        }
        let Some(api) = ApiArgs::new(&cx.flags)? else {
            return Err(Failure::other("the address of the REST API is empty").hint("give it with --address HOST:PORT"));
        };
        let address = Address::parse(&api.address).map_err(|error| Failure::other(error.to_string()))?;
        let trust = trust(cx, address.is_tls()).map_err(|error| Failure::other(error.to_string()))?;
        Ok(Self::Direct(Client::new(address, api.token, trust)))
    }

    fn through(cx: &Context) -> Result<Self, Failure> {
        let to = pool::user::destination(cx)?;
        let user =
            User::new(to).map_err(|error| Failure::other(format!("failed to set up the connection: {error}")))?;
        if let Some(run) = cx.flags.text("run") {
            return Ok(Self::Through { user, run });
        }
        let (runs, _) = user.list().map_err(|error| pool::user::failed(&error))?;
        let mut open: Vec<String> = runs.into_iter().filter(|run| run.exit_code.is_none()).map(|run| run.run).collect();
        match (open.len(), open.pop()) {
            (1, Some(run)) => Ok(Self::Through { user, run }),
            (0, _) => Err(Failure::other("no run is under way there")),
            (_, last) => {
                open.extend(last);
                let failure = Failure::other(format!("which run? The coordinator has {}", open.join(", ")));
                Err(failure.hint("name one with --run; `onrush attach --on` says more of them"))
            }
        }
    }

    /// `GET`s a path.
    ///
    /// # Errors
    /// When there is no answer.
    pub(super) fn get(&self, path: &str) -> Result<Answer, Failure> {
        match self {
            Self::Direct(client) => client.get(path).map_err(|error| unanswered(&error)),
            Self::Through { user, run } => ask(user, run, "GET", path, Vec::new()),
        }
    }

    /// `PATCH`es a path.
    ///
    /// # Errors
    /// When there is no answer.
    pub(super) fn patch(&self, path: &str, body: &Value) -> Result<Answer, Failure> {
        match self {
            Self::Direct(client) => client.patch(path, body).map_err(|error| unanswered(&error)),
            Self::Through { user, run } => ask(user, run, "PATCH", path, body.to_string().into_bytes()),
        }
    }
}

fn ask(user: &User, run: &str, method: &str, path: &str, body: Vec<u8>) -> Result<Answer, Failure> {
    let (status, body) = user.ask(run, method, path, body).map_err(|error| pool::user::failed(&error))?;
    if body.is_empty() {
        return Ok(Answer { status, body: Value::Null });
    }
    let body = serde_json::from_slice(&body)
        .map_err(|_| Failure::other(format!("run {run} did not answer with JSON, which is a bug of Onrush")))?;
    Ok(Answer { status, body })
}

fn unanswered(error: &ClientError) -> Failure {
    Failure::other(error.to_string()).hint(
        "is a test running, and is its REST API at --address? An API over HTTPS needs --api-fingerprint or --api-tls-ca",
    )
}

/// Which certificates to trust; `None` without TLS.
fn trust(cx: &Context, is_tls: bool) -> Result<Option<Trust>, TlsError> {
    if let Some(fingerprint) = cx.flags.text("api-fingerprint") {
        return Ok(Some(Trust::fingerprint(Fingerprint::parse(&fingerprint)?)));
    }
    if let Some(file) = cx.flags.text("api-tls-ca") {
        return Ok(Some(Trust::authority(file.as_ref())?));
    }
    is_tls.then(Trust::system).transpose()
}
