//! A relay's connection: those of its agents, and what it added up of their deltas.

use std::{collections::BTreeMap, pin::pin};

use onrush_session::protocol::{AgentId, Limits, Relayed};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Response, Status, Streaming};

use super::{
    Event, Shared,
    join::{let_in, pong, same_version, take, take_report, ticket, write},
    now,
    outgoing::{Outgoing, behind},
    state::Connection,
};
use crate::{
    convert,
    door::Caller,
    messages::{
        Folded, FromAgent, FromAgentBehind, FromCoordinator, FromRelay, Refusal, RelayWelcome, ToAgentBehind, ToRelay,
        from_agent, from_agent_behind, from_coordinator, from_relay, to_agent_behind, to_relay,
    },
    patience::LOOK_EVERY,
    pulse::Pulse,
};

/// Messages between the agents behind a relay and its socket.
const QUEUE: usize = 1_024;
/// Agents behind one relay.
const AGENTS_MAX: usize = 10_000;

type ToSocket = mpsc::Sender<Result<ToRelay, Status>>;

pub(super) async fn serve(
    mut messages: Streaming<FromRelay>,
    shared: Shared,
    caller: Caller,
) -> Result<Response<ReceiverStream<Result<ToRelay, Status>>>, Status> {
    let Some(FromRelay { what: Some(from_relay::What::Hello(hello)) }) = messages.message().await? else {
        return Err(Status::invalid_argument("a relay says hello first"));
    };
    same_version(&shared, "relay", &hello.program, hello.protocol).map_err(Status::failed_precondition)?;
    caller.stay();
    let (outgoing, stream) = mpsc::channel(QUEUE);
    // The queue is empty and its other end is here.
    let _ = outgoing.try_send(Ok(ToRelay { what: Some(to_relay::What::Welcome(RelayWelcome {})) }));
    let relay = Relay { shared, caller, outgoing, agents: BTreeMap::new() };
    tokio::spawn(relay.read(messages));
    Ok(Response::new(ReceiverStream::new(stream)))
}

/// The coordinator's end of a relay's connection.
struct Relay {
    shared: Shared,
    caller: Caller,
    outgoing: ToSocket,
    /// By the numbers that the relay gave their connections.
    agents: BTreeMap<u64, Connection>,
}

impl Relay {
    async fn read(mut self, mut messages: Streaming<FromRelay>) {
        let why = loop {
            match messages.message().await {
                Ok(Some(FromRelay { what: Some(from_relay::What::Agent(message)) })) => self.agent(message).await,
                Ok(Some(FromRelay { what: Some(from_relay::What::Sum(sum)) })) => {
                    if let Err(why) = self.sum(&sum).await {
                        // The agents join anew, and send again what is in no sum that counts.
                        let _ = self.outgoing.try_send(Err(Status::aborted(why.clone())));
                        break why;
                    }
                }
                Ok(Some(_)) => {}
                Ok(None) => break "its relay ended".to_owned(),
                Err(status) => break format!("that of its relay did: {}", status.message()),
            }
        };
        let mut state = self.shared.state();
        self.agents.values().for_each(|connection| state.broke(connection, why.clone()));
    }

    async fn agent(&mut self, message: FromAgentBehind) {
        let number = message.connection;
        let message = match message.what {
            Some(from_agent_behind::What::Message(FromAgent { what: Some(message) })) => message,
            Some(from_agent_behind::What::Left(_)) => {
                let Some(connection) = self.agents.remove(&number) else { return };
                connection.end();
                let event = self.shared.state().lose(connection.agent, "it left the run", false);
                return event.into_iter().for_each(|event| self.shared.deliver(event));
            }
            Some(from_agent_behind::What::Broke(text)) => {
                // Its place stays, and what the relay holds of it still counts.
                let Some(connection) = self.agents.get(&number) else { return };
                return self.shared.state().broke(connection, text.text);
            }
            Some(from_agent_behind::What::Message(_)) | None => return,
        };
        match message {
            from_agent::What::Hello(hello) => self.join(number, hello).await,
            from_agent::What::Ping(ping) => {
                let Some(connection) = self.agents.get(&number) else { return };
                self.shared.state().hear(connection, now());
                // Whoever reads learns that nobody is there.
                let _ = self.outgoing.send(Ok(behind(number, pong(ping.agent_ns)))).await;
            }
            from_agent::What::Frame(frame) => {
                let Some(connection) = self.agents.get(&number) else { return };
                self.patiently(take(&self.shared, connection, frame)).await;
            }
        }
    }

    async fn join(&mut self, number: u64, hello: crate::messages::Hello) {
        if self.agents.len() >= AGENTS_MAX {
            return self.refuse(number, format!("a relay has at most {AGENTS_MAX} agents")).await;
        }
        // Bytes of the relay's connection are no sign of life of any of its agents.
        match let_in(&self.shared, hello, &self.caller, Pulse::default()) {
            Ok((welcome, connection)) => {
                // It comes back over another connection: what is held of it came over the one before.
                self.agents.retain(|_, other| other.agent != connection.agent);
                let accepted = self.shared.state().accepted_by(connection.agent);
                let message = FromCoordinator { what: Some(from_coordinator::What::Welcome(welcome)) };
                let to_agent = ToAgentBehind {
                    connection: number,
                    what: Some(to_agent_behind::What::Message(message)),
                    accepted: accepted.map(|accepted| convert::encode_accepted(&accepted)),
                };
                let _ = self.outgoing.send(Ok(ToRelay { what: Some(to_relay::What::Agent(to_agent)) })).await;
                let outgoing = Outgoing::Behind(self.outgoing.clone(), number);
                tokio::spawn(write(outgoing, self.shared.clone(), connection.clone()));
                self.agents.insert(number, connection);
            }
            Err(status) => self.refuse(number, status.message().to_owned()).await,
        }
    }

    async fn refuse(&self, connection: u64, why: String) {
        let what = Some(to_agent_behind::What::Refused(Refusal { why }));
        let to_agent = ToAgentBehind { connection, what, accepted: None };
        let _ = self.outgoing.send(Ok(ToRelay { what: Some(to_relay::What::Agent(to_agent)) })).await;
    }

    /// Takes what the relay added up.
    async fn sum(&self, sum: &Folded) -> Result<(), String> {
        let relayed: Relayed = convert::unfold(sum).map_err(|error| error.to_string())?;
        Limits::default().check_relayed(&relayed).map_err(|error| error.to_string())?;
        let connections: BTreeMap<AgentId, Connection> =
            self.agents.values().map(|connection| (connection.agent, connection.clone())).collect();
        let later = self.shared.state().receive_sum(&relayed, &connections, now())?;
        let mut tickets = Vec::with_capacity(relayed.parts.len());
        for part in &relayed.parts {
            if let Some(connection) = connections.get(&part.agent) {
                tickets.push(self.patiently(ticket(&self.shared, connection, part.number)).await);
            }
        }
        self.shared.deliver(Event::Relayed { relayed, tickets });
        for (connection, number, report) in later {
            self.patiently(take_report(&self.shared, &connection, number, report)).await;
        }
        Ok(())
    }

    /// While the coordinator is behind with the reports of one agent, the silence of all of them is ours.
    async fn patiently<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        tokio::select! {
            biased;
            done = work.as_mut() => return done,
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
        self.hold_up(true);
        let done = work.await;
        self.hold_up(false);
        done
    }

    fn hold_up(&self, is_held_up: bool) {
        let mut state = self.shared.state();
        self.agents.values().for_each(|connection| state.hold_up(connection, is_held_up, now()));
    }
}
