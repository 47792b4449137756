//! The coordinator's end of the calls: who may come in, and the conversation with an agent.

use std::net::{SocketAddr, TcpListener};

use bytes::Bytes;
use http::Request as HttpRequest;
use hyper::body::Incoming;
use onrush_certificates::Role;
use onrush_session::{
    link,
    protocol::{Limits, Report},
};
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming, body::Body};

use super::{Event, Session, Shared, Ticket, now, outgoing::Outgoing, relay, state::Connection};
use crate::{
    Access, PROTOCOL,
    bearing::{capacity, labels},
    content::PIECE_BYTES,
    convert,
    door::{self, Caller, Host},
    messages::{
        FetchRequest, Frame, FromAgent, FromCoordinator, FromRelay, Hello, Piece, Pong, Welcome, from_agent,
        from_coordinator,
    },
    patience::LOOK_EVERY,
    pulse::Pulse,
    rpc::{self, Answer},
};

/// Messages between a connection's tasks and its socket.
const QUEUE: usize = 16;

/// Serves agents until the sender is dropped.
pub(super) async fn serve(socket: TcpListener, shared: Shared, stopped: watch::Receiver<()>) {
    let looking = async {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let events = shared.state().look(now());
            events.into_iter().for_each(|event| shared.deliver(event));
        }
    };
    tokio::select! {
        () = door::accept(socket, shared.clone(), stopped) => {}
        never = looking => never,
    }
}

impl Host for Shared {
    fn access(&self) -> &Access {
        &self.config.access
    }

    fn refused(&self, peer: SocketAddr, why: String) {
        self.deliver(Event::Refused { peer, why });
    }

    async fn answer(&self, request: HttpRequest<Incoming>, caller: Caller) -> http::Response<Body> {
        let shared = self.clone();
        match request.uri().path() {
            rpc::JOIN | rpc::FETCH | rpc::RELAY if caller.role != Role::Agent => {
                caller.refuse(self, "a user's credential does not let an agent in: give the agent one of its own")
            }
            rpc::JOIN => {
                let join = move |request: Request<Streaming<FromAgent>>| {
                    join(request.into_inner(), shared.clone(), caller.clone())
                };
                rpc::join_server().streaming(Answer(join), request).await
            }
            rpc::RELAY => {
                let serve = move |request: Request<Streaming<FromRelay>>| {
                    relay::serve(request.into_inner(), shared.clone(), caller.clone())
                };
                rpc::relay_server().streaming(Answer(serve), request).await
            }
            rpc::FETCH => {
                let fetch = move |request: Request<FetchRequest>| {
                    let answer = fetch(&shared, &request.into_inner());
                    async move { answer }
                };
                rpc::fetch_server().server_streaming(Answer(fetch), request).await
            }
            _ => Status::unimplemented("there are the calls Join, Fetch and Relay").into_http(),
        }
    }
}

fn fetch(shared: &Shared, request: &FetchRequest) -> Result<Response<ReceiverStream<Result<Piece, Status>>>, Status> {
    let content = shared.state().contents.find(&request.hash);
    let content = content.ok_or_else(|| Status::not_found("there is no content with this hash"))?;
    let total = content.len() as u64;
    let offset = usize::try_from(request.offset).ok().filter(|offset| *offset <= content.len());
    let mut at = offset.ok_or_else(|| Status::out_of_range(format!("the content has {total} bytes")))?;
    let (pieces, stream) = mpsc::channel(4);
    tokio::spawn(async move {
        loop {
            let end = content.len().min(at + PIECE_BYTES);
            let data = Bytes::copy_from_slice(&content[at..end]);
            // Also an empty one: it says that there is no more.
            if pieces.send(Ok(Piece { total, data })).await.is_err() || end == content.len() {
                return;
            }
            at = end;
        }
    });
    Ok(Response::new(ReceiverStream::new(stream)))
}

async fn join(
    mut messages: Streaming<FromAgent>,
    shared: Shared,
    caller: Caller,
) -> Result<Response<ReceiverStream<Result<FromCoordinator, Status>>>, Status> {
    let Some(FromAgent { what: Some(from_agent::What::Hello(hello)) }) = messages.message().await? else {
        return Err(Status::invalid_argument("an agent says hello first"));
    };
    let (welcome, connection) = let_in(&shared, hello, &caller, caller.pulse.clone())?;
    let (outgoing, stream) = mpsc::channel(QUEUE);
    // The queue is empty and its other end is here.
    let _ = outgoing.try_send(Ok(FromCoordinator { what: Some(from_coordinator::What::Welcome(welcome)) }));
    let outgoing = Outgoing::Own(outgoing);
    tokio::spawn(write(outgoing.clone(), shared.clone(), connection.clone()));
    tokio::spawn(read(messages, outgoing, shared, connection));
    Ok(Response::new(ReceiverStream::new(stream)))
}

/// Gives an agent its place, which it had if it comes back.
pub(super) fn let_in(
    shared: &Shared,
    hello: Hello,
    caller: &Caller,
    pulse: Pulse,
) -> Result<(Welcome, Connection), Status> {
    let labels = labels(hello.labels.clone()).map_err(Status::failed_precondition)?;
    let (session, connection) = admit(shared, &hello, pulse).map_err(|why| {
        shared.refused(caller.peer, why.clone());
        Status::failed_precondition(why)
    })?;
    caller.stay();
    if hello.session.is_empty() {
        let (name, capacity) = (hello.name, capacity(hello.capacity));
        shared.deliver(Event::Joined { agent: connection.agent, session, name, labels, capacity });
    }
    let lease_ms = u32::try_from(shared.config.patience.lease.as_millis()).unwrap_or(u32::MAX);
    let has_journal = shared.config.has_journal;
    Ok((Welcome { session: session.0.to_vec(), agent: connection.agent.0, lease_ms, has_journal }, connection))
}

fn admit(shared: &Shared, hello: &Hello, pulse: Pulse) -> Result<(Session, Connection), String> {
    same_version(shared, "agent", &hello.program, hello.protocol)?;
    let mut state = shared.state();
    let (session, connection) = match hello.session.is_empty() {
        true => state.join(hello.child, now()),
        false => state.rejoin(&hello.session, now()),
    }?;
    state.feel(&connection, pulse);
    Ok((session, connection))
}

/// Both sides must be of the same version.
pub(super) fn same_version(shared: &Shared, who: &str, program: &str, protocol: u32) -> Result<(), String> {
    let ours = &shared.config.program;
    if protocol == PROTOCOL && program == ours {
        return Ok(());
    }
    Err(format!(
        "this {who} is Onrush {program} with version {protocol} of the protocol, the coordinator is Onrush {ours} with version \
         {PROTOCOL}: use the same version of Onrush everywhere"
    ))
}

/// Sends what the link has to send, and signs of life.
pub(super) async fn write(outgoing: Outgoing, shared: Shared, connection: Connection) {
    loop {
        let Some(frames) = shared.state().frames(&connection, now()) else { return };
        for link::Frame { number, acknowledged, message } in frames {
            let frame = Frame { number, acknowledged, message: message.unwrap_or_default() };
            let message = FromCoordinator { what: Some(from_coordinator::What::Frame(frame)) };
            if outgoing.send(message).await.is_err() {
                return;
            }
        }
        tokio::select! {
            () = connection.wake.notified() => {}
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = connection.replaced() => return,
            () = outgoing.closed() => return,
        }
    }
}

/// Hands on what the agent reports until its connection breaks or there is another one.
async fn read(mut messages: Streaming<FromAgent>, outgoing: Outgoing, shared: Shared, connection: Connection) {
    let _turn = connection.turn.clone().lock_owned().await;
    loop {
        let message = tokio::select! {
            message = messages.message() => message,
            () = connection.replaced() => return,
        };
        match message {
            Ok(Some(FromAgent { what: Some(from_agent::What::Frame(frame)) })) => {
                if !take(&shared, &connection, frame).await {
                    return;
                }
            }
            Ok(Some(FromAgent { what: Some(from_agent::What::Ping(ping)) })) => {
                shared.state().hear(&connection, now());
                if outgoing.send(pong(ping.agent_ns)).await.is_err() {
                    return shared.state().broke(&connection, "it does not read".to_owned());
                }
            }
            Ok(Some(_)) => shared.state().hear(&connection, now()),
            // It said so itself; a connection that merely breaks ends otherwise.
            Ok(None) => {
                connection.end();
                let event = shared.state().lose(connection.agent, "it left the run", false);
                return event.into_iter().for_each(|event| shared.deliver(event));
            }
            Err(status) => return shared.state().broke(&connection, status.message().to_owned()),
        }
    }
}

pub(super) fn pong(agent_ns: u64) -> FromCoordinator {
    FromCoordinator { what: Some(from_coordinator::What::Pong(Pong { agent_ns, coordinator_ns: now().0 })) }
}

/// Takes a frame of an agent. Whether the agent is to be heard further.
pub(super) async fn take(shared: &Shared, connection: &Connection, frame: Frame) -> bool {
    let Frame { number, acknowledged, message } = frame;
    let frame = link::Frame { number, acknowledged, message: (number > 0).then_some(message) };
    let reports = shared.state().receive(connection, frame, now());
    for (number, report) in reports {
        if !take_report(shared, connection, number, report).await {
            return false;
        }
    }
    true
}

/// Takes a report whose turn it is. What cannot be one costs the agent its place.
pub(super) async fn take_report(shared: &Shared, connection: &Connection, number: u64, report: Bytes) -> bool {
    let handed_on = hand_on(shared, connection, number, report).await;
    if let Err(why) = &handed_on {
        let event = shared.state().lose(connection.agent, why, false);
        event.into_iter().for_each(|event| shared.deliver(event));
    }
    handed_on.is_ok()
}

async fn hand_on(shared: &Shared, connection: &Connection, number: u64, report: Bytes) -> Result<(), String> {
    let report = convert::report(report).map_err(|error| error.to_string())?;
    Limits::default().check(&report).map_err(|error| error.to_string())?;
    if let Report::Accepted(accepted) = &report {
        shared.state().accepted(connection.agent, accepted);
    }
    let ticket = ticket(shared, connection, number).await;
    shared.deliver(Event::Report { from: connection.agent, report, ticket });
    Ok(())
}

/// What a report of an agent needs to be handed on, which it may have to wait for.
pub(super) async fn ticket(shared: &Shared, connection: &Connection, number: u64) -> Ticket {
    let permit = match connection.reports.clone().try_acquire_owned() {
        Ok(permit) => Some(permit),
        Err(_) => {
            shared.state().hold_up(connection, true, now());
            let permit = connection.reports.clone().acquire_owned().await.ok();
            shared.state().hold_up(connection, false, now());
            permit
        }
    };
    let confirms = shared.config.has_journal.then(|| (shared.state.clone(), connection.agent, number));
    Ticket { _permit: permit, confirms }
}
