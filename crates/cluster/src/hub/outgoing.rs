//! Where what an agent is told goes: over its own connection, or over that of its relay.

use tokio::sync::mpsc;
use tonic::Status;

use crate::messages::{FromCoordinator, ToAgentBehind, ToRelay, to_agent_behind, to_relay};

/// One of the two.
#[derive(Clone)]
pub(super) enum Outgoing {
    Own(mpsc::Sender<Result<FromCoordinator, Status>>),
    /// And the number of the agent's connection there.
    Behind(mpsc::Sender<Result<ToRelay, Status>>, u64),
}

/// Nobody reads it any more.
pub(super) struct Closed;

impl Outgoing {
    pub(super) async fn send(&self, message: FromCoordinator) -> Result<(), Closed> {
        match self {
            Self::Own(sender) => sender.send(Ok(message)).await.map_err(|_| Closed),
            Self::Behind(sender, connection) => sender.send(Ok(behind(*connection, message))).await.map_err(|_| Closed),
        }
    }

    pub(super) async fn closed(&self) {
        match self {
            Self::Own(sender) => sender.closed().await,
            Self::Behind(sender, _) => sender.closed().await,
        }
    }
}

/// A message for an agent behind a relay.
pub(super) fn behind(connection: u64, message: FromCoordinator) -> ToRelay {
    let what = Some(to_agent_behind::What::Message(message));
    ToRelay { what: Some(to_relay::What::Agent(ToAgentBehind { connection, what, accepted: None })) }
}
