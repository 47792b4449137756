//! The pool's end of the calls.

use std::{
    fs::File,
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener},
    time::Duration,
};

use bytes::Bytes;
use http::Request as HttpRequest;
use hyper::body::Incoming;
use onrush_certificates::Role;
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming, body::Body};
use tonic_prost::ProstCodec;

use super::{Phase, PoolEvent, RunRequest, Shared, forward, log::Entry};
use crate::{
    Access, PROTOCOL,
    bearing::{capacity, labels, wire_capacity, wire_labels},
    content::PIECE_BYTES,
    door::{self, Caller, Host},
    hub::now,
    messages::{
        AgentInfo, Beat, FilePiece, FollowRequest, FromMember, Happening, ListRequest, Listing, MemberHello,
        MemberWelcome, Question, Reply, RunInfo, StopRequest, Stopped, Submission, SubmitHead, Submitted, ToMember,
        from_member, happening, submission, to_member,
    },
    patience::{HEARTBEAT, LOOK_EVERY},
    rpc::{self, Answer},
};

pub(super) const STAND: &str = "/onrush.cluster.v1.Pool/Stand";
pub(super) const SUBMIT: &str = "/onrush.cluster.v1.Pool/Submit";
pub(super) const FOLLOW: &str = "/onrush.cluster.v1.Pool/Follow";
pub(super) const LIST: &str = "/onrush.cluster.v1.Pool/List";
pub(super) const STOP: &str = "/onrush.cluster.v1.Pool/Stop";
pub(super) const ASK: &str = "/onrush.cluster.v1.Pool/Ask";

/// Messages between a call's tasks and its socket.
const QUEUE: usize = 16;
/// How long the next piece of a test may take.
const PIECE_MAX: Duration = Duration::from_secs(30);
/// Agents of one run, and its zones.
const AGENTS_MAX: u32 = 1_000;
const ZONES_MAX: usize = 64;
/// Names are for people.
const TEXT_BYTES_MAX: usize = 1_024;
/// A user who went away without a word is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// Serves agents and users until the sender is dropped.
pub(super) async fn serve(socket: TcpListener, shared: Shared, stopped: watch::Receiver<()>) {
    let looking = async {
        loop {
            tokio::select! {
                () = shared.changed.notified() => {}
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
            shared.look();
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
        (self.deliver)(PoolEvent::Refused { peer, why });
    }

    fn keep_alive(&self) -> Option<Duration> {
        Some(KEEP_ALIVE)
    }

    async fn answer(&self, request: HttpRequest<Incoming>, caller: Caller) -> http::Response<Body> {
        let path = request.uri().path().to_owned();
        let needed = if matches!(&*path, rpc::JOIN | rpc::FETCH | STAND) { Role::Agent } else { Role::User };
        if caller.role != needed {
            return caller.refuse(
                self,
                match needed {
                    Role::User => "an agent's credential is not good for sending or following runs: use that of a user",
                    _ => "a user's credential does not let an agent in: give the agent one of its own",
                },
            );
        }
        let shared = self.clone();
        match &*path {
            rpc::JOIN | rpc::FETCH => pass_on(&shared, request, &caller).await,
            STAND => {
                let answer = move |request: Request<Streaming<FromMember>>| {
                    stand(request.into_inner(), shared.clone(), caller.clone())
                };
                server::<FromMember, ToMember>().streaming(Answer(answer), request).await
            }
            SUBMIT => {
                caller.stay();
                let answer =
                    move |request: Request<Streaming<Submission>>| submit(request.into_inner(), shared.clone());
                server::<Submission, Submitted>().client_streaming(Answer(answer), request).await
            }
            FOLLOW => {
                caller.stay();
                let answer = move |request: Request<FollowRequest>| {
                    let answer = follow(&shared, &request.into_inner());
                    async move { answer }
                };
                server::<FollowRequest, Happening>().server_streaming(Answer(answer), request).await
            }
            LIST => {
                let answer = move |_: Request<ListRequest>| {
                    let listing = list(&shared);
                    async move { Ok(Response::new(listing)) }
                };
                server::<ListRequest, Listing>().unary(Answer(answer), request).await
            }
            STOP => {
                let answer = move |request: Request<StopRequest>| {
                    let answer = stop(&shared, &request.into_inner().run);
                    async move { answer.map(|()| Response::new(Stopped {})) }
                };
                server::<StopRequest, Stopped>().unary(Answer(answer), request).await
            }
            ASK => {
                let answer = move |request: Request<Question>| {
                    let shared = shared.clone();
                    async move { ask(&shared, request.into_inner()).await.map(Response::new) }
                };
                server::<Question, Reply>().unary(Answer(answer), request).await
            }
            _ => Status::unimplemented("there is no such call").into_http(),
        }
    }
}

fn server<Asked, Answered>() -> tonic::server::Grpc<ProstCodec<Answered, Asked>>
where
    Asked: prost::Message + Default + Send + 'static,
    Answered: prost::Message + Default + Send + 'static,
{
    tonic::server::Grpc::new(ProstCodec::default())
}

/// A call of an agent that takes part in a run.
async fn pass_on(shared: &Shared, request: HttpRequest<Incoming>, caller: &Caller) -> http::Response<Body> {
    let name = request.headers().get(rpc::RUN).and_then(|value| value.to_str().ok());
    let Some((run, secret)) = name.and_then(|name| name.split_once('.')) else {
        return Status::failed_precondition(
            "this coordinator has no test of its own: start the agent without --once, and it waits for one",
        )
        .into_http();
    };
    let secret = secret.to_owned();
    let place = match number(run) {
        Ok(run) => shared.lock().state.runs.get(&run).and_then(|run| run.place.clone()),
        Err(status) => return status.into_http(),
    };
    let Some(place) = place else {
        return Status::failed_precondition("the run this agent took part in is over").into_http();
    };
    let response = forward::call(place.hub, &secret, request).await;
    // A refusal has its status in the head.
    if response.status().is_success() && !response.headers().contains_key("grpc-status") {
        caller.stay();
    }
    response
}

/// An agent's standing connection.
async fn stand(
    mut messages: Streaming<FromMember>,
    shared: Shared,
    caller: Caller,
) -> Result<Response<ReceiverStream<Result<ToMember, Status>>>, Status> {
    let Some(FromMember { what: Some(from_member::What::Hello(hello)) }) = messages.message().await? else {
        return Err(Status::invalid_argument("an agent says hello first"));
    };
    same_version(&shared, hello.protocol, &hello.program, "agent").inspect_err(|status| {
        shared.refused(caller.peer, status.message().to_owned());
    })?;
    let MemberHello { name, labels: given, capacity: bears, run, .. } = hello;
    let (labels, capacity) = (labels(given).map_err(Status::failed_precondition)?, capacity(bears));
    if name.len() > TEXT_BYTES_MAX {
        return Err(Status::failed_precondition(format!("an agent's name has at most {TEXT_BYTES_MAX} bytes")));
    }
    caller.stay();
    let (outbox, stream) = mpsc::channel(QUEUE);
    let _ = outbox.try_send(Ok(ToMember { what: Some(to_member::What::Welcome(MemberWelcome {})) }));
    let member = {
        let mut inner = shared.lock();
        let member = inner.state.join(name.clone(), labels, capacity, number(&run).ok(), now());
        inner.outboxes.insert(member, outbox.clone());
        member
    };
    shared.note(format!("agent {name} has joined from {}", caller.peer.ip()));
    shared.changed.notify_one();
    tokio::spawn(async move {
        let why = converse(&mut messages, &outbox, &shared, member).await;
        let left = {
            let mut inner = shared.lock();
            inner.outboxes.remove(&member);
            inner.state.leave(member)
        };
        if left.is_some() {
            shared.note(format!("agent {name} is gone: {why}"));
        }
    });
    Ok(Response::new(ReceiverStream::new(stream)))
}

async fn converse(
    messages: &mut Streaming<FromMember>,
    outbox: &mpsc::Sender<Result<ToMember, Status>>,
    shared: &Shared,
    member: u64,
) -> String {
    let mut beat = tokio::time::interval(HEARTBEAT);
    loop {
        let message = tokio::select! {
            message = messages.message() => message,
            _ = beat.tick() => {
                // One that does not read has this and more to come.
                let _ = outbox.try_send(Ok(ToMember { what: Some(to_member::What::Beat(Beat {})) }));
                // It may have been forgotten meanwhile, for its silence.
                if !shared.lock().outboxes.contains_key(&member) || outbox.is_closed() {
                    return "its connection broke".to_owned();
                }
                continue;
            }
        };
        match message {
            Ok(Some(FromMember { what: Some(from_member::What::State(state)) })) => {
                if shared.lock().state.hear(member, number(&state.run).ok(), now()) {
                    shared.changed.notify_one();
                }
            }
            Ok(Some(_)) => {}
            Ok(None) => return "it left".to_owned(),
            Err(status) => return format!("its connection broke ({})", status.message()),
        }
    }
}

fn same_version(shared: &Shared, protocol: u32, program: &str, who: &str) -> Result<(), Status> {
    let ours = &shared.config.program;
    if protocol == PROTOCOL && program == ours {
        return Ok(());
    }
    Err(Status::failed_precondition(format!(
        "this {who} is Onrush {program} with version {protocol} of the protocol, the coordinator is Onrush {ours} with \
         version {PROTOCOL}: use the same version of Onrush everywhere"
    )))
}

fn number(run: &str) -> Result<u64, Status> {
    run.parse().map_err(|_| Status::not_found(format!("there is no run \"{run}\"")))
}

/// Takes a run, or as much of it as there is before something is wrong.
async fn submit(mut messages: Streaming<Submission>, shared: Shared) -> Result<Response<Submitted>, Status> {
    let Some(Submission { what: Some(submission::What::Head(head)) }) = messages.message().await? else {
        return Err(Status::invalid_argument("a run begins with its head"));
    };
    same_version(&shared, head.protocol, &head.program, "program")?;
    let total = head.total;
    let request = checked(&shared, head)?;
    let run = shared.lock().state.announce().map_err(Status::resource_exhausted)?;
    let folder = shared.folder(run);
    match receive(&mut messages, &folder, total).await {
        Ok(()) => {
            let name = request.name.clone();
            shared.lock().state.submit(run, request, shared.config.limits.log_bytes, now());
            shared.note(format!("run {run} ({name}) has come"));
            shared.changed.notify_one();
            Ok(Response::new(Submitted { run: run.to_string() }))
        }
        Err(status) => {
            shared.lock().state.abandon();
            // What cannot be removed stays until the pool ends.
            let _ = std::fs::remove_dir_all(folder);
            Err(status)
        }
    }
}

fn checked(shared: &Shared, head: SubmitHead) -> Result<RunRequest, Status> {
    let max = shared.config.limits.test_bytes;
    if head.total > max {
        return Err(Status::failed_precondition(format!(
            "the test with its files has {} bytes, the limit of this coordinator is {max}: open() fewer or smaller files",
            head.total
        )));
    }
    let wrong = |what: String| Err(Status::failed_precondition(what));
    if !(1..=AGENTS_MAX).contains(&head.agents) {
        return wrong(format!("a run has 1 to {AGENTS_MAX} agents, not {}", head.agents));
    }
    if head.zones.len() > ZONES_MAX.min(head.agents as usize) {
        return wrong(format!(
            "a run of {} agents cannot have {} zones: each needs an agent, and {ZONES_MAX} are the limit",
            head.agents,
            head.zones.len()
        ));
    }
    if head.zones.iter().any(|zone| zone.weight == 0 || zone.name.len() > TEXT_BYTES_MAX) {
        return wrong("each zone has a weight above 0 and a name of a reasonable length".to_owned());
    }
    let mut name = head.name;
    name.retain(|char| !char.is_control());
    Ok(RunRequest {
        name: name.chars().take(TEXT_BYTES_MAX).collect(),
        agents: head.agents,
        zones: head.zones.into_iter().map(|zone| (zone.name, zone.weight)).collect(),
        wait: Duration::from_millis(head.wait_ms),
        is_verbose: head.verbose,
        is_even: head.is_even,
    })
}

/// Writes the pieces of a test to its folder.
async fn receive(messages: &mut Streaming<Submission>, folder: &std::path::Path, total: u64) -> Result<(), Status> {
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
    let failed = |error: std::io::Error| Status::unavailable(format!("the coordinator cannot keep the test: {error}"));
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(folder.join(TEST)).map_err(failed)?;
    let mut received = 0;
    while received < total {
        let piece = tokio::time::timeout(PIECE_MAX, messages.message())
            .await
            .map_err(|_| Status::deadline_exceeded(format!("nothing came for {} s", PIECE_MAX.as_secs())))??;
        let Some(Submission { what: Some(submission::What::Piece(piece)) }) = piece else {
            return Err(Status::invalid_argument("the test ended early"));
        };
        received += piece.len() as u64;
        if received > total {
            return Err(Status::invalid_argument("there is more of the test than there should be"));
        }
        file.write_all(&piece).map_err(failed)?;
    }
    Ok(())
}

/// What the test is called in its folder.
const TEST: &str = "test";

/// A place among those who follow.
struct Follower(Shared);

impl Drop for Follower {
    fn drop(&mut self) {
        self.0.lock().followers -= 1;
    }
}

fn follow(
    shared: &Shared,
    request: &FollowRequest,
) -> Result<Response<ReceiverStream<Result<Happening, Status>>>, Status> {
    let run = number(&request.run)?;
    let follower = {
        let mut inner = shared.lock();
        if !inner.state.runs.contains_key(&run) {
            return Err(Status::not_found(format!("there is no run {run}: onrush attach lists those there are")));
        }
        let max = shared.config.limits.followers;
        if inner.followers >= max {
            return Err(Status::resource_exhausted(format!("{max} others follow runs already, which is the limit")));
        }
        inner.followers += 1;
        Follower(shared.clone())
    };
    let (pieces, stream) = mpsc::channel(QUEUE);
    let from = request.from;
    tokio::spawn(async move {
        // Whoever reads slowly holds up this task and nothing else.
        let _ = tell(&follower.0, run, from, &pieces).await;
    });
    Ok(Response::new(ReceiverStream::new(stream)))
}

/// The follower has gone, or the run has been forgotten.
struct Gone;

async fn tell(
    shared: &Shared,
    run: u64,
    mut next: u64,
    pieces: &mpsc::Sender<Result<Happening, Status>>,
) -> Result<(), Gone> {
    let send = async |number: u64, what: happening::What| {
        pieces.send(Ok(Happening { number, what: Some(what) })).await.map_err(|_| Gone)
    };
    loop {
        let (entry, mut changes) = {
            let inner = shared.lock();
            let log = &inner.state.runs.get(&run).ok_or(Gone)?.log;
            (log.at(next), log.changes())
        };
        let Some((number, entry)) = entry else {
            if *changes.borrow_and_update() > next {
                continue;
            }
            tokio::select! {
                changed = changes.changed() => changed.map_err(|_| Gone)?,
                () = pieces.closed() => return Err(Gone),
            }
            continue;
        };
        if number > next {
            send(number, happening::What::Skipped(number - next)).await?;
        }
        next = number + 1;
        match entry {
            Entry::Output(bytes) => send(number, happening::What::Output(bytes.to_vec())).await?,
            Entry::Log(bytes) => send(number, happening::What::Log(bytes.to_vec())).await?,
            Entry::End(code) => return send(number, happening::What::End(code.into())).await,
            Entry::File { path, kept } => {
                for piece in file(path, &kept) {
                    send(number, happening::What::File(piece)).await?;
                }
            }
        }
    }
}

/// A file in pieces; one that cannot be read ends where that shows.
fn file(path: String, kept: &std::path::Path) -> impl Iterator<Item = FilePiece> {
    let mut source = File::open(kept).ok();
    let mut is_over = false;
    std::iter::from_fn(move || {
        if is_over {
            return None;
        }
        let mut data = Vec::with_capacity(PIECE_BYTES);
        if let Some(source) = &mut source {
            // What was read before a failure is in the buffer.
            let _ = source.take(PIECE_BYTES as u64).read_to_end(&mut data);
        }
        is_over = data.len() < PIECE_BYTES;
        Some(FilePiece { path: path.clone(), data, is_last: is_over })
    })
}

fn list(shared: &Shared) -> Listing {
    let inner = shared.lock();
    let runs = inner.state.runs.iter().map(|(number, run)| RunInfo {
        run: number.to_string(),
        name: run.request.name.clone(),
        state: run.phase.name().to_owned(),
        agents: run.request.agents,
        age_ms: u64::try_from(now().since(run.since).as_millis()).unwrap_or(u64::MAX),
        exit_code: match run.phase {
            Phase::Ended { code } => Some(code.into()),
            _ => None,
        },
    });
    let agents = inner.state.members().map(|member| AgentInfo {
        name: member.name.clone(),
        labels: wire_labels(&member.labels),
        capacity: Some(wire_capacity(member.capacity)),
        run: member.job.run().map(|run| run.to_string()).unwrap_or_default(),
    });
    Listing { runs: runs.collect(), agents: agents.collect() }
}

fn stop(shared: &Shared, run: &str) -> Result<(), Status> {
    let run = number(run)?;
    let phase = shared.lock().state.runs.get(&run).map(|run| run.phase);
    match phase {
        None => Err(Status::not_found(format!("there is no run {run}: onrush attach lists those there are"))),
        Some(Phase::Ended { .. }) => Ok(()),
        Some(Phase::Waiting { .. }) => {
            /// As when a signal ends a run.
            const EXTERNAL_ABORT: u8 = 105;
            let text = "no test was run: it was stopped while it waited for agents\n";
            shared.happen(run, Entry::Log(Bytes::from_static(text.as_bytes())));
            shared.end(run, EXTERNAL_ABORT);
            Ok(())
        }
        Some(Phase::Starting | Phase::Running) => {
            (shared.deliver)(PoolEvent::Stop { run });
            Ok(())
        }
    }
}

async fn ask(shared: &Shared, question: Question) -> Result<Reply, Status> {
    let run = number(&question.run)?;
    let (phase, place) = {
        let inner = shared.lock();
        let found = inner.state.runs.get(&run);
        let found = found
            .ok_or_else(|| Status::not_found(format!("there is no run {run}: onrush attach lists those there are")))?;
        (found.phase, found.place.clone())
    };
    let Some((api, token)) = place.and_then(|place| place.api) else {
        return Err(Status::failed_precondition(match phase {
            Phase::Ended { .. } => format!("run {run} is over"),
            _ => format!("run {run} is {}: it cannot be asked yet", phase.name()),
        }));
    };
    forward::ask(api, &token, question).await
}
