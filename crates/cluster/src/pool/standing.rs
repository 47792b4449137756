//! An agent that stays: waits for runs, says what it does, comes back when the connection breaks.

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, mpsc::channel},
    thread::JoinHandle,
    time::Duration,
};

use http::uri::PathAndQuery;
use tokio::{
    sync::{mpsc, watch},
    time::timeout,
};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};
use tonic_prost::ProstCodec;

use super::{calls::STAND, state::SILENCE};
use crate::{
    Capacity, Destination, JoinError, PROTOCOL,
    bearing::{wire_capacity, wire_labels},
    dial::{DialError, connect},
    hub::now,
    messages::{Assign, FromMember, MemberHello, MemberState, ToMember, from_member, to_member},
    patience::{HANDSHAKE_MAX, HEARTBEAT},
};

/// How an agent joins a pool.
#[derive(Debug, Clone)]
pub struct StandConfig {
    /// Where the coordinator is, and what lets the agent in.
    pub to: Destination,
    /// What it is called in messages to people.
    pub name: String,
    /// What runs choose it by.
    pub labels: BTreeMap<String, String>,
    /// What it can bear.
    pub capacity: Capacity,
    /// The program's version.
    pub program: String,
    /// How long to try while the coordinator is not there yet.
    pub wait: Duration,
}

/// Why an agent does not stay.
#[derive(Debug, thiserror::Error)]
pub enum StandError {
    /// The coordinator has a test of its own: agents join that.
    #[error("the coordinator has a test of its own")]
    OneRun,
    /// It is as when a run is joined.
    #[error(transparent)]
    Join(#[from] JoinError),
}

/// What comes from a pool.
#[derive(Debug)]
pub enum FromPool {
    /// Take part in a run.
    Assign {
        /// Which.
        run: String,
        /// What lets the agent in there.
        secret: String,
    },
    /// The connection broke; it is being made again.
    Broke {
        /// Why.
        why: String,
    },
    /// It is there again.
    Back,
    /// It will not be there again.
    Gone(StandError),
}

/// An agent's place in a pool. Dropping it leaves.
pub struct Standing {
    run: watch::Sender<String>,
    stop: Option<watch::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

type Deliver = Arc<dyn Fn(FromPool) + Send + Sync>;

/// Between two attempts to connect, at first and at most.
const PAUSE: Duration = Duration::from_millis(200);
const PAUSE_MAX: Duration = Duration::from_secs(5);
const QUEUE: usize = 16;

impl Standing {
    /// Joins a pool. What comes from it goes to `deliver`, on a thread of its own: it must not block.
    ///
    /// # Errors
    /// Why not.
    pub fn join(config: StandConfig, deliver: impl Fn(FromPool) + Send + Sync + 'static) -> Result<Self, StandError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(JoinError::Thread)?;
        let (stop, mut stopped) = watch::channel(());
        let (run, runs) = watch::channel(String::new());
        let (joined, result) = channel();
        let thread = std::thread::Builder::new()
            .name("pool".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    let first = match first(&config, &runs).await {
                        Ok(first) => first,
                        Err(error) => {
                            let _ = joined.send(Err(error));
                            return;
                        }
                    };
                    let _ = joined.send(Ok(()));
                    drop(joined);
                    tokio::select! {
                        () = stay(&config, runs, first, Arc::new(deliver)) => {}
                        () = async { while stopped.changed().await.is_ok() {} } => {}
                    }
                });
            })
            .map_err(JoinError::Thread)?;
        // A thread that panicked has said so.
        result.recv().map_err(|_| JoinError::Thread(io::ErrorKind::Other.into()))??;
        Ok(Self { run, stop: Some(stop), thread: Some(thread) })
    }

    /// Says that the agent takes part in a run, or in none.
    pub fn set_run(&self, run: Option<&str>) {
        self.run.send_replace(run.unwrap_or_default().to_owned());
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed.
            let _ = thread.join();
        }
    }
}

/// A connection that was answered.
struct Stood {
    outgoing: mpsc::Sender<FromMember>,
    incoming: Streaming<ToMember>,
}

/// Why there is none.
enum StandFailure {
    OneRun,
    Dial(DialError),
}

async fn stand(config: &StandConfig, run: &str) -> Result<Stood, StandFailure> {
    let (channel, seen) = connect(&config.to, None).await.map_err(StandFailure::Dial)?;
    let hello = MemberHello {
        protocol: PROTOCOL,
        program: config.program.clone(),
        name: config.name.clone(),
        labels: wire_labels(&config.labels),
        capacity: Some(wire_capacity(config.capacity)),
        run: run.to_owned(),
    };
    let (outgoing, messages) = mpsc::channel(QUEUE);
    // The queue is empty and its other end is here.
    let _ = outgoing.try_send(FromMember { what: Some(from_member::What::Hello(hello)) });
    let failed = |status: Status| match status.code() {
        Code::Unimplemented => StandFailure::OneRun,
        _ => StandFailure::Dial(seen.judge(&status)),
    };
    let answered = async {
        let mut client = channel.client();
        client.ready().await.map_err(|error| failed(Status::from_error(error.into())))?;
        let codec: ProstCodec<FromMember, ToMember> = ProstCodec::default();
        let request = channel.authorized(ReceiverStream::new(messages));
        let answer = client.streaming(request, PathAndQuery::from_static(STAND), codec).await.map_err(failed)?;
        let mut incoming = answer.into_inner();
        match incoming.message().await.map_err(failed)? {
            Some(ToMember { what: Some(to_member::What::Welcome(_)) }) => Ok(incoming),
            _ => {
                Err(StandFailure::Dial(DialError::Wrong("it does not welcome agents: is it a coordinator?".to_owned())))
            }
        }
    };
    let late = |_| StandFailure::Dial(DialError::Failed("its answer took too long".to_owned()));
    let incoming = timeout(HANDSHAKE_MAX, answered).await.map_err(late)??;
    Ok(Stood { outgoing, incoming })
}

/// The first connection, which may have to wait for the coordinator to be there.
async fn first(config: &StandConfig, runs: &watch::Receiver<String>) -> Result<Stood, StandError> {
    let until = now() + config.wait;
    loop {
        let run = runs.borrow().clone();
        match stand(config, &run).await {
            Ok(stood) => return Ok(stood),
            Err(StandFailure::Dial(DialError::Failed(_))) if now() < until => tokio::time::sleep(PAUSE).await,
            Err(failure) => return Err(final_of(failure, config)),
        }
    }
}

fn final_of(failure: StandFailure, config: &StandConfig) -> StandError {
    let coordinator = config.to.coordinator.clone();
    let error = match failure {
        StandFailure::OneRun => return StandError::OneRun,
        StandFailure::Dial(DialError::Refused(why)) => JoinError::Refused { coordinator, why },
        StandFailure::Dial(DialError::Wrong(why) | DialError::Failed(why)) => JoinError::Failed { coordinator, why },
        StandFailure::Dial(DialError::Plain) => JoinError::Plain(coordinator),
    };
    StandError::Join(error)
}

/// An agent's life in a pool.
async fn stay(config: &StandConfig, runs: watch::Receiver<String>, first: Stood, deliver: Deliver) {
    let mut stood = first;
    loop {
        let why = converse(stood, runs.clone(), &deliver).await;
        deliver(FromPool::Broke { why });
        let mut pause = PAUSE;
        stood = loop {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
            let run = runs.borrow().clone();
            match stand(config, &run).await {
                Ok(stood) => break stood,
                // The coordinator is being restarted, or a proxy answers for it: an agent that stays does so.
                Err(StandFailure::Dial(DialError::Failed(_) | DialError::Wrong(_))) => {}
                Err(failure) => return deliver(FromPool::Gone(final_of(failure, config))),
            }
        };
        deliver(FromPool::Back);
    }
}

/// Until the connection breaks; returns why it did.
async fn converse(stood: Stood, mut runs: watch::Receiver<String>, deliver: &Deliver) -> String {
    let Stood { outgoing, mut incoming } = stood;
    let mut beat = tokio::time::interval(HEARTBEAT);
    let mut heard = now();
    loop {
        let message = tokio::select! {
            message = incoming.message() => message,
            changed = runs.changed() => {
                if changed.is_err() {
                    return "the agent has left".to_owned();
                }
                beat.reset_immediately();
                continue;
            }
            _ = beat.tick() => {
                if now().since(heard) > SILENCE {
                    return format!("nothing was heard of the coordinator for {} s", SILENCE.as_secs());
                }
                let state = MemberState { run: runs.borrow().clone() };
                if outgoing.try_send(FromMember { what: Some(from_member::What::State(state)) }).is_err() {
                    return "the coordinator does not read".to_owned();
                }
                continue;
            }
        };
        heard = now();
        match message {
            Ok(Some(ToMember { what: Some(to_member::What::Assign(Assign { run, secret })) })) => {
                deliver(FromPool::Assign { run, secret });
            }
            Ok(Some(_)) => {}
            Ok(None) => return "closed by the coordinator".to_owned(),
            Err(status) => return status.message().to_owned(),
        }
    }
}
