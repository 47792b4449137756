//! The end of agents: their connections, and what of them goes on as it came.

use std::net::SocketAddr;

use http::Request as HttpRequest;
use hyper::body::Incoming;
use onrush_certificates::Role;
use onrush_session::{protocol::AgentId, relay::Taken};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming, body::Body};

use super::{AgentConnection, RelayEvent, Shared, Upward, about, now};
use crate::{
    Access, convert,
    door::{Caller, Host},
    messages::{
        FetchRequest, Frame, FromAgent, FromCoordinator, Piece, Text, Unit, from_agent, from_agent_behind::What,
    },
    rpc::{self, Answer},
};

/// What waits for an agent that does not read: more, and it has to connect again.
const QUEUE: usize = 1_024;
/// Pieces of content under way to an agent.
const PIECES: usize = 4;

impl Host for Shared {
    fn access(&self) -> &Access {
        &self.config.access
    }

    fn refused(&self, peer: SocketAddr, why: String) {
        (self.deliver)(RelayEvent::Refused { peer, why });
    }

    async fn answer(&self, request: HttpRequest<Incoming>, caller: Caller) -> http::Response<Body> {
        let shared = self.clone();
        match request.uri().path() {
            rpc::JOIN | rpc::FETCH if caller.role != Role::Agent => {
                caller.refuse(self, "a user's credential does not let an agent in: give the agent one of its own")
            }
            rpc::JOIN => {
                let join = move |request: Request<Streaming<FromAgent>>| {
                    join(request.into_inner(), shared.clone(), caller.clone())
                };
                rpc::join_server().streaming(Answer(join), request).await
            }
            rpc::FETCH => {
                let fetch = move |request: Request<FetchRequest>| fetch(shared.clone(), request.into_inner());
                rpc::fetch_server().server_streaming(Answer(fetch), request).await
            }
            _ => Status::unimplemented("a relay has the calls Join and Fetch").into_http(),
        }
    }
}

/// The connection with the coordinator. Without one agents come again a little later.
fn upward(shared: &Shared) -> Result<Upward, Status> {
    let upward = shared.state().upward.clone();
    upward.ok_or_else(|| Status::unavailable("the relay has no connection with the coordinator"))
}

async fn fetch(
    shared: Shared,
    request: FetchRequest,
) -> Result<Response<ReceiverStream<Result<Piece, Status>>>, Status> {
    let mut content = upward(&shared)?.channel.fetch(&request.hash, request.offset).await?;
    let (pieces, stream) = mpsc::channel(PIECES);
    tokio::spawn(async move {
        while let Some(piece) = content.message().await.transpose() {
            let is_over = piece.is_err();
            if pieces.send(piece).await.is_err() || is_over {
                return;
            }
        }
    });
    Ok(Response::new(ReceiverStream::new(stream)))
}

async fn join(
    messages: Streaming<FromAgent>,
    shared: Shared,
    caller: Caller,
) -> Result<Response<ReceiverStream<Result<FromCoordinator, Status>>>, Status> {
    let upward = upward(&shared)?;
    let (outgoing, stream) = mpsc::channel(QUEUE);
    let number = {
        let mut state = shared.state();
        state.last_number += 1;
        let number = state.last_number;
        state.agents.insert(number, AgentConnection { agent: None, outgoing });
        number
    };
    tokio::spawn(read(messages, shared, upward, number, caller));
    Ok(Response::new(ReceiverStream::new(stream)))
}

/// Passes on what an agent says until its connection ends, or that with the coordinator does.
async fn read(mut messages: Streaming<FromAgent>, shared: Shared, upward: Upward, number: u64, caller: Caller) {
    let end = loop {
        let message = match messages.message().await {
            Ok(Some(message)) => message,
            Ok(None) => break What::Left(Unit {}),
            Err(status) => break What::Broke(Text { text: status.message().to_owned() }),
        };
        let Some(agent) = shared.state().agents.get(&number).map(|connection| connection.agent) else { return };
        if agent.is_some() {
            caller.stay();
        }
        if let (Some(agent), Some(from_agent::What::Frame(frame))) = (agent, &message.what)
            && take(&shared, agent, frame) == Taken::Held
        {
            continue;
        }
        if upward.messages.send(about(number, What::Message(message))).await.is_err() {
            return;
        }
    };
    let is_known = {
        let mut state = shared.state();
        let gone = state.agents.remove(&number);
        let agent = gone.as_ref().and_then(|gone| gone.agent);
        // It may be back over another connection already.
        let is_back = state.agents.values().any(|other| other.agent == agent);
        agent.into_iter().filter(|_| !is_back).for_each(|agent| state.relay.left(agent));
        gone.is_some()
    };
    if is_known {
        // Whoever reads learns that the coordinator is gone.
        let _ = upward.messages.send(about(number, end)).await;
    }
}

fn take(shared: &Shared, agent: AgentId, frame: &Frame) -> Taken {
    if frame.number == 0 {
        return Taken::Passes;
    }
    // What cannot be read is the coordinator's to refuse.
    let Ok(report) = convert::report(frame.message.clone()) else { return Taken::Passes };
    let taken = shared.state().relay.take(agent, (frame.number, frame.acknowledged), Some(&report), now());
    if taken == Taken::Held {
        shared.wake.notify_one();
    }
    taken
}
