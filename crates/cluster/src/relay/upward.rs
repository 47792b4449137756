//! The end of the coordinator: one connection after another, what goes down to agents, and the sums that go up.

use std::time::Duration;

use onrush_session::{protocol::AgentId, relay};
use tokio::{
    sync::mpsc,
    time::{sleep, timeout},
};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

use super::{RelayEvent, Shared, Upward, now};
use crate::{
    PROTOCOL, convert,
    dial::{DialError, connect},
    messages::{
        FromCoordinator, FromRelay, RelayHello, ToAgentBehind, ToRelay, from_coordinator, from_relay, to_agent_behind,
        to_relay,
    },
    patience::HANDSHAKE_MAX,
};

/// Between two attempts to connect.
const DIAL_PAUSE: Duration = Duration::from_millis(200);
/// Messages of all agents between them and the socket.
const QUEUE: usize = 1_024;
/// How often the coordinator is asked whether it is still there: agents that hear nothing for their lease end.
const KEEP_ALIVE: Duration = Duration::from_secs(1);

/// Connects again and again, until the coordinator refuses.
pub(super) async fn live(shared: Shared) {
    let mut told = String::new();
    loop {
        let why = match dial(&shared).await {
            Ok((upward, messages, incoming)) => {
                told.clear();
                shared.state().upward = Some(Upward { messages, ..upward.clone() });
                (shared.deliver)(RelayEvent::Connected);
                let why = converse(&shared, &upward, incoming).await;
                let mut state = shared.state();
                state.upward = None;
                // All join anew: what was held here lives at them.
                state.relay.restart();
                state.agents.clear();
                why
            }
            Err(DialError::Failed(why)) => why,
            Err(DialError::Refused(why) | DialError::Wrong(why)) => {
                (shared.deliver)(RelayEvent::Gone { why });
                return std::future::pending().await;
            }
            Err(DialError::Plain) => {
                let why = "the coordinator is on another machine, and the join token has no fingerprint".to_owned();
                (shared.deliver)(RelayEvent::Gone { why });
                return std::future::pending().await;
            }
        };
        if why != told {
            (shared.deliver)(RelayEvent::Broke { why: why.clone() });
            told = why;
        }
        sleep(DIAL_PAUSE).await;
    }
}

type Dialled = (Upward, mpsc::Sender<FromRelay>, Streaming<ToRelay>);

async fn dial(shared: &Shared) -> Result<Dialled, DialError> {
    let config = &shared.config;
    let (channel, seen) = connect(&config.to, Some(KEEP_ALIVE)).await?;
    let hello = RelayHello { protocol: PROTOCOL, program: config.program.clone(), name: config.name.clone() };
    let (messages, stream) = mpsc::channel(QUEUE);
    // The queue is empty and its other end is here.
    let _ = messages.try_send(FromRelay { what: Some(from_relay::What::Hello(hello)) });
    let welcomed = async {
        let failed = |status: Status| seen.judge(&status);
        let mut incoming = channel.relay(ReceiverStream::new(stream)).await.map_err(failed)?;
        match incoming.message().await.map_err(failed)? {
            Some(ToRelay { what: Some(to_relay::What::Welcome(_)) }) => Ok(incoming),
            _ => Err(DialError::Wrong("it does not welcome relays: is it a coordinator?".to_owned())),
        }
    };
    let late = |_| DialError::Failed(format!("its answer took longer than {} s", HANDSHAKE_MAX.as_secs()));
    let incoming = timeout(HANDSHAKE_MAX, welcomed).await.map_err(late)??;
    Ok((Upward { messages: messages.clone(), channel }, messages, incoming))
}

/// Until the connection ends; says why it did.
async fn converse(shared: &Shared, upward: &Upward, mut incoming: Streaming<ToRelay>) -> String {
    let receiving = async {
        loop {
            match incoming.message().await {
                Ok(Some(ToRelay { what: Some(to_relay::What::Agent(message)) })) => pass(shared, message),
                Ok(Some(_)) => {}
                Ok(None) => return "closed by the coordinator".to_owned(),
                Err(status) => return status.message().to_owned(),
            }
        }
    };
    tokio::select! {
        why = receiving => why,
        () = add_up(shared, upward) => "closed by the coordinator".to_owned(),
    }
}

/// Sends sums when they are due, one after another: their order is that of the reports in them.
async fn add_up(shared: &Shared, upward: &Upward) {
    loop {
        let (sum, due_at) = {
            let mut state = shared.state();
            (state.relay.due(now()), state.relay.due_at())
        };
        if let Some(sum) = sum {
            let message = FromRelay { what: Some(from_relay::What::Sum(convert::fold(&sum))) };
            if upward.messages.send(message).await.is_err() {
                return;
            }
            continue;
        }
        let wait = due_at.map_or(relay::Relay::HOLD, |at| at.since(now()));
        tokio::select! {
            () = shared.wake.notified() => {}
            () = sleep(wait) => {}
        }
    }
}

/// Passes on what the coordinator has for an agent.
fn pass(shared: &Shared, to_agent: ToAgentBehind) {
    let ToAgentBehind { connection: number, what, accepted } = to_agent;
    let mut state = shared.state();
    let message = match what {
        Some(to_agent_behind::What::Message(message)) => Ok(message),
        Some(to_agent_behind::What::Refused(refused)) => Err(Status::failed_precondition(refused.why)),
        None => return,
    };
    let is_refused = message.is_err();
    let state = &mut *state;
    let Some(connection) = state.agents.get_mut(&number) else { return };
    match &message {
        Ok(FromCoordinator { what: Some(from_coordinator::What::Welcome(welcome)) }) => {
            let agent = AgentId(welcome.agent);
            connection.agent = Some(agent);
            let accepted = accepted.and_then(|accepted| convert::accepted(accepted).ok());
            state.relay.joined(agent, accepted.as_ref());
        }
        Ok(FromCoordinator { what: Some(from_coordinator::What::Frame(frame)) }) => {
            if let Some(agent) = connection.agent {
                state.relay.acknowledged(agent, frame.acknowledged);
            }
        }
        _ => {}
    }
    // Who does not read joins anew.
    if connection.outgoing.try_send(message).is_err() || is_refused {
        state.agents.remove(&number);
    }
}
