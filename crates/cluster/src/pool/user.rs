//! The end of whoever sends tests to a pool, follows runs and steers them.

use std::{collections::BTreeMap, io, ops::ControlFlow, sync::Arc, time::Duration};

use http::uri::PathAndQuery;
use tokio::{sync::mpsc, time::timeout};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status};
use tonic_prost::ProstCodec;

use super::{
    RunRequest,
    calls::{ASK, FOLLOW, LIST, STOP, SUBMIT},
};
use crate::{
    Capacity, Destination, PROTOCOL,
    bearing::capacity,
    content::PIECE_BYTES,
    dial::{DialError, Seen, connect},
    messages::{
        self, FollowRequest, Happening, ListRequest, Listing, Question, Reply, StopRequest, Stopped, Submission,
        SubmitHead, Submitted, Zone, happening, submission,
    },
    rpc::Channel,
};

/// A user of a pool. Every call makes a connection of its own and waits for the answer.
pub struct User {
    to: Destination,
    runtime: tokio::runtime::Runtime,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum UserError {
    /// It makes no sense to ask again.
    #[error("the coordinator {coordinator} refused: {why}")]
    Refused {
        /// Where it is.
        coordinator: String,
        /// In its words.
        why: String,
    },
    /// Nobody is there, it is no coordinator, or the connection broke.
    #[error("failed to reach the coordinator {coordinator}: {why}")]
    Failed {
        /// Where it should be.
        coordinator: String,
        /// What was wrong.
        why: String,
        /// It may be better later.
        may_pass: bool,
    },
    /// The token would go over the network in plain text.
    #[error(
        "the coordinator {0} is on another machine, and the user token has no fingerprint: copy all of the token that it prints, or give a certificate with --tls"
    )]
    Plain(String),
}

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happened {
    /// It printed something.
    Output(Vec<u8>),
    /// It logged something.
    Log(Vec<u8>),
    /// A file for whoever sent it, or a piece of one.
    File {
        /// What it is called here.
        path: String,
        /// The next bytes.
        data: Vec<u8>,
        /// There are no more.
        is_last: bool,
    },
    /// So many things are gone: nobody read them in time.
    Skipped(u64),
    /// It is over.
    End {
        /// Its exit code.
        code: u8,
    },
}

/// A run of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunInfo {
    /// Its number.
    pub run: String,
    /// What it is called.
    pub name: String,
    /// How far it is: waiting, starting, running, ended.
    pub state: String,
    /// Its agents.
    pub agents: u32,
    /// How long it has been in this state.
    pub age: Duration,
    /// Its exit code, once it is over.
    pub exit_code: Option<u8>,
}

/// An agent of a pool.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentInfo {
    /// What it is called.
    pub name: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// What it can bear.
    pub capacity: Capacity,
    /// The run it takes part in, if any.
    pub run: Option<String>,
}

/// How often a connection that says nothing is asked whether it is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(10);
/// How long an answer may take that waits for nothing.
const ANSWER_MAX: Duration = Duration::from_secs(60);
const QUEUE: usize = 4;

impl User {
    /// A user of the coordinator there.
    ///
    /// # Errors
    /// When the system has no means of waiting.
    pub fn new(to: Destination) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        Ok(Self { to, runtime })
    }

    /// Sends a test; returns the run's number.
    ///
    /// # Errors
    /// Why it was not taken.
    pub fn submit(&self, program: &str, request: &RunRequest, test: &Arc<[u8]>) -> Result<String, UserError> {
        let head = SubmitHead {
            protocol: PROTOCOL,
            program: program.to_owned(),
            name: request.name.clone(),
            agents: request.agents,
            zones: request.zones.iter().map(|(name, weight)| Zone { name: name.clone(), weight: *weight }).collect(),
            wait_ms: u64::try_from(request.wait.as_millis()).unwrap_or(u64::MAX),
            total: test.len() as u64,
            verbose: request.is_verbose,
            is_even: request.is_even,
        };
        let test = test.clone();
        self.runtime.block_on(async {
            let (channel, seen) = self.connect().await?;
            let (pieces, stream) = mpsc::channel(QUEUE);
            tokio::spawn(async move {
                let first = Submission { what: Some(submission::What::Head(head)) };
                let rest = test.chunks(PIECE_BYTES);
                let rest = rest.map(|piece| Submission { what: Some(submission::What::Piece(piece.to_vec())) });
                for message in std::iter::once(first).chain(rest) {
                    // Whoever does not want the rest says why in its answer.
                    if pieces.send(message).await.is_err() {
                        return;
                    }
                }
            });
            let mut client = channel.client();
            client.ready().await.map_err(|error| self.failed(&seen, &Status::from_error(error.into())))?;
            let codec: ProstCodec<Submission, Submitted> = ProstCodec::default();
            let request = channel.authorized(ReceiverStream::new(stream));
            let answer = client.client_streaming(request, PathAndQuery::from_static(SUBMIT), codec).await;
            answer.map(|answer| answer.into_inner().run).map_err(|status| self.failed(&seen, &status))
        })
    }

    /// Follows a run from some point on, until it is over or `each` breaks. `next` is the point, and moves on: after an
    /// error that may pass, the same call goes on where it was. Returns whether the run is over.
    ///
    /// # Errors
    /// Why it cannot be followed, or no longer.
    pub fn follow(
        &self,
        run: &str,
        next: &mut u64,
        mut each: impl FnMut(Happened) -> ControlFlow<()>,
    ) -> Result<bool, UserError> {
        self.runtime.block_on(async {
            let (channel, seen) = self.connect().await?;
            let failed = |status: Status| self.failed(&seen, &status);
            let mut client = channel.client();
            client.ready().await.map_err(|error| failed(Status::from_error(error.into())))?;
            let codec: ProstCodec<FollowRequest, Happening> = ProstCodec::default();
            let request = channel.authorized(FollowRequest { run: run.to_owned(), from: *next });
            let answer = client.server_streaming(request, PathAndQuery::from_static(FOLLOW), codec).await;
            let mut happenings = answer.map_err(failed)?.into_inner();
            loop {
                let Some(Happening { number, what }) = happenings.message().await.map_err(failed)? else {
                    return Err(failed(Status::unavailable("the connection was closed")));
                };
                let happened = match what {
                    Some(happening::What::Output(bytes)) => Happened::Output(bytes),
                    Some(happening::What::Log(bytes)) => Happened::Log(bytes),
                    Some(happening::What::File(piece)) => {
                        Happened::File { path: piece.path, data: piece.data, is_last: piece.is_last }
                    }
                    Some(happening::What::Skipped(count)) => Happened::Skipped(count),
                    Some(happening::What::End(code)) => Happened::End { code: u8::try_from(code).unwrap_or(u8::MAX) },
                    None => continue,
                };
                // A file that broke off is sent again from its beginning, and what was skipped is followed by its number.
                let is_whole = !matches!(happened, Happened::File { is_last: false, .. } | Happened::Skipped(_));
                if is_whole {
                    *next = number + 1;
                }
                let is_over = matches!(happened, Happened::End { .. });
                if each(happened).is_break() || is_over {
                    return Ok(is_over);
                }
            }
        })
    }

    /// The runs and agents there are.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn list(&self) -> Result<(Vec<RunInfo>, Vec<AgentInfo>), UserError> {
        let Listing { runs, agents } = self.call(LIST, ListRequest {})?;
        let run = |run: messages::RunInfo| RunInfo {
            run: run.run,
            name: run.name,
            state: run.state,
            agents: run.agents,
            age: Duration::from_millis(run.age_ms),
            exit_code: run.exit_code.map(|code| u8::try_from(code).unwrap_or(u8::MAX)),
        };
        let agent = |agent: messages::AgentInfo| AgentInfo {
            name: agent.name,
            labels: agent.labels.into_iter().map(|label| (label.name, label.value)).collect(),
            capacity: capacity(agent.capacity),
            run: Some(agent.run).filter(|run| !run.is_empty()),
        };
        Ok((runs.into_iter().map(run).collect(), agents.into_iter().map(agent).collect()))
    }

    /// Asks a run to end.
    ///
    /// # Errors
    /// Why it cannot be asked.
    pub fn stop(&self, run: &str) -> Result<(), UserError> {
        self.call::<_, Stopped>(STOP, StopRequest { run: run.to_owned() }).map(drop)
    }

    /// Asks the REST API of a run; returns status and body.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn ask(&self, run: &str, method: &str, path: &str, body: Vec<u8>) -> Result<(u16, Vec<u8>), UserError> {
        let question = Question { run: run.to_owned(), method: method.to_owned(), path: path.to_owned(), body };
        let Reply { status, body } = self.call(ASK, question)?;
        Ok((u16::try_from(status).unwrap_or(u16::MAX), body))
    }

    async fn connect(&self) -> Result<(Channel, Seen), UserError> {
        connect(&self.to, Some(KEEP_ALIVE)).await.map_err(|error| self.of_dial(error))
    }

    fn of_dial(&self, error: DialError) -> UserError {
        let coordinator = self.to.coordinator.clone();
        match error {
            DialError::Refused(why) => UserError::Refused { coordinator, why },
            DialError::Wrong(why) => UserError::Failed { coordinator, why, may_pass: false },
            DialError::Failed(why) => UserError::Failed { coordinator, why, may_pass: true },
            DialError::Plain => UserError::Plain(coordinator),
        }
    }

    fn failed(&self, seen: &Seen, status: &Status) -> UserError {
        let refused = |why: &str| UserError::Refused { coordinator: self.to.coordinator.clone(), why: why.to_owned() };
        match status.code() {
            Code::Unimplemented => refused("it has a test of its own and takes no others: start it without a script"),
            Code::NotFound | Code::InvalidArgument | Code::ResourceExhausted | Code::DeadlineExceeded => {
                refused(status.message())
            }
            _ => self.of_dial(seen.judge(status)),
        }
    }

    fn call<Asked, Answered>(&self, path: &'static str, asked: Asked) -> Result<Answered, UserError>
    where
        Asked: prost::Message + Default + Send + 'static,
        Answered: prost::Message + Default + Send + 'static,
    {
        self.runtime.block_on(async {
            let (channel, seen) = self.connect().await?;
            let mut client = channel.client();
            client.ready().await.map_err(|error| self.failed(&seen, &Status::from_error(error.into())))?;
            let codec: ProstCodec<Asked, Answered> = ProstCodec::default();
            let call = client.unary(channel.authorized(asked), PathAndQuery::from_static(path), codec);
            let answer = timeout(ANSWER_MAX, call)
                .await
                .unwrap_or_else(|_| Err(Status::unavailable(format!("nothing came for {} s", ANSWER_MAX.as_secs()))));
            answer.map(tonic::Response::into_inner).map_err(|status| self.failed(&seen, &status))
        })
    }
}
