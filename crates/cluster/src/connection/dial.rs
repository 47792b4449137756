//! Making an agent's connection: what comes after HTTP/2, which is hello, welcome, and a look at the clocks.

use std::time::Duration;

use onrush_fiber::Clock;
use tokio::{sync::mpsc, time::timeout};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

use super::JoinConfig;
use crate::{
    PROTOCOL,
    bearing::{wire_capacity, wire_labels},
    clock::OffsetEstimate,
    dial::{DialError, Seen, connect},
    messages::{Frame, FromAgent, FromCoordinator, Hello, Ping, Welcome, from_agent, from_coordinator},
    patience::HANDSHAKE_MAX,
    rpc::Channel,
};

/// A connection that was made and answered.
pub(super) struct Dialled {
    pub(super) channel: Channel,
    pub(super) seen: Seen,
    pub(super) outgoing: mpsc::Sender<FromAgent>,
    pub(super) incoming: Streaming<FromCoordinator>,
    pub(super) welcome: Welcome,
    /// Frames that came while the clocks were compared.
    pub(super) early: Vec<Frame>,
}

/// Messages between the agent and the socket.
const QUEUE: usize = 16;
/// Round trips for the clocks.
const PINGS: usize = 16;

pub(super) async fn dial(config: &JoinConfig, session: &[u8]) -> Result<Dialled, DialError> {
    let (channel, seen) = connect(&config.to, None).await?;
    let late = |_| DialError::Failed(format!("its answer took longer than {} s", HANDSHAKE_MAX.as_secs()));
    timeout(HANDSHAKE_MAX, hello(channel, seen, config, session)).await.map_err(late)?
}

async fn hello(channel: Channel, seen: Seen, config: &JoinConfig, session: &[u8]) -> Result<Dialled, DialError> {
    let hello = Hello {
        protocol: PROTOCOL,
        program: config.program.clone(),
        name: config.name.clone(),
        session: session.to_vec(),
        child: config.child,
        labels: wire_labels(&config.labels),
        capacity: Some(wire_capacity(config.capacity)),
    };
    let (outgoing, messages) = mpsc::channel(QUEUE);
    // The queue is empty and its other end is here.
    let _ = outgoing.try_send(FromAgent { what: Some(from_agent::What::Hello(hello)) });
    let failed = |status: Status| seen.judge(&status);
    let mut incoming = channel.join(ReceiverStream::new(messages)).await.map_err(failed)?;
    match incoming.message().await.map_err(failed)? {
        Some(FromCoordinator { what: Some(from_coordinator::What::Welcome(welcome)) }) => {
            Ok(Dialled { channel, seen, outgoing, incoming, welcome, early: Vec::new() })
        }
        _ => Err(DialError::Wrong("it does not welcome agents: is it a coordinator?".to_owned())),
    }
}

/// Asks for the coordinator's clock.
pub(super) fn ping() -> FromAgent {
    FromAgent { what: Some(from_agent::What::Ping(Ping { agent_ns: Clock::now().0 })) }
}

impl Dialled {
    /// Measures how far the coordinator's clock is, before anything else goes over the connection.
    pub(super) async fn measure(&mut self) -> Result<OffsetEstimate, DialError> {
        let failed = |why: &str| DialError::Failed(format!("the clocks cannot be compared: {why}"));
        let mut estimate = OffsetEstimate::default();
        for _ in 0..PINGS {
            self.outgoing.send(ping()).await.map_err(|_| failed("the connection is closed"))?;
            let pong = loop {
                let message = timeout(PONG_MAX, self.incoming.message()).await.map_err(|_| failed("no answer"))?;
                match message.map_err(|status| self.seen.judge(&status))? {
                    Some(FromCoordinator { what: Some(from_coordinator::What::Pong(pong)) }) => break pong,
                    // The coordinator need not wait for the clocks.
                    Some(FromCoordinator { what: Some(from_coordinator::What::Frame(frame)) }) => {
                        self.early.push(frame);
                    }
                    Some(_) => {}
                    None => return Err(failed("the connection is closed")),
                }
            };
            estimate.note(pong.agent_ns, pong.coordinator_ns, Clock::now().0);
        }
        estimate.best(Clock::now().0).map(|_| estimate).ok_or_else(|| failed("no answer"))
    }
}

/// How long the answer to a ping may take.
const PONG_MAX: Duration = Duration::from_secs(5);
