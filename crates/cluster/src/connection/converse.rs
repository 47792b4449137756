//! What goes over an agent's connections, one after another, until the coordinator is gone.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use onrush_session::{
    link,
    protocol::{AgentId, Time},
};
use tokio::sync::{mpsc, watch};

use super::{
    Answer, Deliver, Fetch, FetchError, FromHub, JoinConfig, JoinError, Joined, Outbox,
    dial::{Dialled, dial, ping},
    now,
};
use crate::{
    CoordinatorClock, Hash, Session,
    clock::OffsetEstimate,
    content::CONTENT_BYTES_MAX,
    convert,
    dial::DialError,
    messages::{Frame, FromAgent, FromCoordinator, from_agent, from_coordinator},
    patience::LOOK_EVERY,
    pulse::Pulse,
    rpc::Channel,
};

/// Between two attempts to connect.
const DIAL_PAUSE: Duration = Duration::from_millis(200);
/// Between two comparisons of the clocks: they run apart by some 50 µs in a second at most.
const COMPARE_EVERY: Duration = Duration::from_secs(1);
/// Who did not look for so long was not there itself: the silence was its own.
const OWN_GAP_MAX: Duration = Duration::from_secs(1);

type Answered = Answer<Result<Joined, JoinError>>;

/// An agent's life with its coordinator.
pub(super) async fn live(
    config: JoinConfig,
    outbox: Arc<Outbox>,
    deliver: Deliver,
    fetches: mpsc::Receiver<Fetch>,
    joined: Answered,
    mut stopped: watch::Receiver<()>,
) {
    let (mut dialled, estimate) = match first(&config).await {
        Ok(first) => first,
        Err(error) => {
            let _ = joined.send(Err(error));
            return;
        }
    };
    let lease = Duration::from_millis(dialled.welcome.lease_ms.into());
    let session = dialled.welcome.session.clone();
    let (channels, channel) = watch::channel(dialled.channel.clone());
    tokio::spawn(serve_fetches(fetches, channel, lease));
    let mut compared = Compared { estimate, clock: CoordinatorClock::default() };
    compared.publish();
    let Ok(known) = <[u8; 16]>::try_from(&session[..]) else {
        let (coordinator, why) = (config.to.coordinator.clone(), "its welcome names no session".to_owned());
        let _ = joined.send(Err(JoinError::Failed { coordinator, why }));
        return;
    };
    let known = Joined {
        agent: AgentId(dialled.welcome.agent),
        session: Session(known),
        has_journal: dialled.welcome.has_journal,
        clock: compared.clock.clone(),
    };
    if joined.send(Ok(known)).is_err() {
        return;
    }
    let mut heard = Heard { at: now(), pulse: Pulse::default(), looked_at: now(), lease };
    let why = loop {
        let broke = match converse(dialled, &outbox, &deliver, &mut heard, &mut compared, &mut stopped).await {
            Ended::Broke(why) => why,
            Ended::Silent => break silent(lease),
            Ended::Nonsense(why) => break why,
            Ended::Left => return,
        };
        match again(&config, &session, &mut heard).await {
            Ok(next) => {
                dialled = next;
                channels.send_replace(dialled.channel.clone());
                outbox.queue().link.restart();
            }
            Err(Some(refused)) => break refused,
            Err(None) => break format!("{}, after the connection broke: {broke}", silent(lease)),
        }
    };
    deliver(FromHub::Gone { why });
}

fn silent(lease: Duration) -> String {
    format!("nothing was heard of the coordinator for {} s", lease.as_secs_f64())
}

/// The first connection, which may have to wait for the coordinator to be there.
async fn first(config: &JoinConfig) -> Result<(Dialled, OffsetEstimate), JoinError> {
    let coordinator = config.to.coordinator.clone();
    let until = now() + config.wait;
    loop {
        let attempt = async {
            let mut dialled = dial(config, &[]).await?;
            let estimate = dialled.measure().await?;
            Ok((dialled, estimate))
        };
        match attempt.await {
            Ok(first) => return Ok(first),
            Err(DialError::Refused(why)) => return Err(JoinError::Refused { coordinator, why }),
            Err(DialError::Plain) => return Err(JoinError::Plain(coordinator)),
            Err(DialError::Wrong(why)) => return Err(JoinError::Failed { coordinator, why }),
            Err(DialError::Failed(why)) if now() >= until => return Err(JoinError::Failed { coordinator, why }),
            Err(DialError::Failed(_)) => tokio::time::sleep(DIAL_PAUSE).await,
        }
    }
}

/// A further connection within the lease; `Some` with why there will be none.
async fn again(config: &JoinConfig, session: &[u8], heard: &mut Heard) -> Result<Dialled, Option<String>> {
    loop {
        tokio::time::sleep(DIAL_PAUSE).await;
        if heard.is_too_long_ago() {
            return Err(None);
        }
        let attempt = tokio::time::timeout(heard.left(), dial(config, session));
        match attempt.await {
            Ok(Ok(dialled)) => {
                heard.now();
                return Ok(dialled);
            }
            Ok(Err(DialError::Refused(why))) => return Err(Some(why)),
            // What is wrong there now may be a proxy's doing: the lease bounds it.
            Ok(Err(DialError::Failed(_) | DialError::Wrong(_) | DialError::Plain)) | Err(_) => {}
        }
    }
}

/// When the coordinator was heard last.
struct Heard {
    at: Time,
    /// Of the connection there is.
    pulse: Pulse,
    looked_at: Time,
    lease: Duration,
}

impl Heard {
    fn now(&mut self) {
        self.at = now();
    }

    fn left(&self) -> Duration {
        self.lease.saturating_sub(now().since(self.at)).max(DIAL_PAUSE)
    }

    fn is_too_long_ago(&mut self) -> bool {
        let now = now();
        if now.since(std::mem::replace(&mut self.looked_at, now)) > OWN_GAP_MAX {
            // What came meanwhile is still to be read.
            self.at = now;
        }
        self.at = self.at.max(self.pulse.last());
        now.since(self.at) > self.lease
    }
}

/// The two clocks, as far as they are known.
struct Compared {
    estimate: OffsetEstimate,
    clock: CoordinatorClock,
}

impl Compared {
    fn publish(&self) {
        if let Some(best) = self.estimate.best(now().0) {
            self.clock.set(best);
        }
    }
}

/// How a conversation ended.
enum Ended {
    /// The connection did.
    Broke(String),
    /// Nothing came for the lease.
    Silent,
    /// What came makes no sense.
    Nonsense(String),
    /// The agent has left.
    Left,
}

async fn converse(
    dialled: Dialled,
    outbox: &Outbox,
    deliver: &Deliver,
    heard: &mut Heard,
    compared: &mut Compared,
    stopped: &mut watch::Receiver<()>,
) -> Ended {
    let Dialled { outgoing, mut incoming, early, seen, .. } = dialled;
    heard.now();
    heard.pulse = seen.pulse();
    let sending = async {
        let mut compare_at = now() + COMPARE_EVERY;
        loop {
            if now() >= compare_at {
                compare_at = now() + COMPARE_EVERY;
                if outgoing.send(ping()).await.is_err() {
                    return std::future::pending().await;
                }
            }
            let frames = outbox.queue().link.frames(now());
            for link::Frame { number, acknowledged, message } in frames {
                let frame = Frame { number, acknowledged, message: message.unwrap_or_default() };
                let message = FromAgent { what: Some(from_agent::What::Frame(frame)) };
                if outgoing.send(message).await.is_err() {
                    // Whoever reads learns why.
                    return std::future::pending().await;
                }
            }
            tokio::select! {
                () = outbox.wake.notified() => {}
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    };
    let receiving = async {
        for frame in early {
            if let Err(why) = obey(outbox, deliver, frame) {
                return Ended::Nonsense(why);
            }
        }
        let mut look = tokio::time::interval(LOOK_EVERY);
        loop {
            let message = tokio::select! {
                biased;
                message = incoming.message() => message,
                _ = look.tick() => {
                    if heard.is_too_long_ago() {
                        return Ended::Silent;
                    }
                    continue;
                }
            };
            heard.now();
            let frame = match message {
                Ok(Some(FromCoordinator { what: Some(from_coordinator::What::Frame(frame)) })) => frame,
                Ok(Some(FromCoordinator { what: Some(from_coordinator::What::Pong(pong)) })) => {
                    compared.estimate.note(pong.agent_ns, pong.coordinator_ns, now().0);
                    compared.publish();
                    continue;
                }
                Ok(Some(_)) => continue,
                Ok(None) => return Ended::Broke("closed by the coordinator".to_owned()),
                Err(status) => return Ended::Broke(status.message().to_owned()),
            };
            if let Err(why) = obey(outbox, deliver, frame) {
                return Ended::Nonsense(why);
            }
        }
    };
    tokio::select! {
        ended = receiving => return ended,
        never = sending => return never,
        () = super::ended(stopped) => {}
    }
    // The end of what it says is its farewell; the coordinator answers with the end of its own.
    drop(outgoing);
    while let Ok(Some(_)) = incoming.message().await {}
    Ended::Left
}

/// Hands on the commands whose turn it is.
fn obey(outbox: &Outbox, deliver: &Deliver, frame: Frame) -> Result<(), String> {
    for command in take(outbox, frame) {
        let command = convert::command(command);
        deliver(FromHub::Command(command.map_err(|error| format!("the coordinator sent a command: {error}"))?));
    }
    Ok(())
}

fn take(outbox: &Outbox, frame: Frame) -> Vec<Bytes> {
    let Frame { number, acknowledged, message } = frame;
    let frame = link::Frame { number, acknowledged, message: (number > 0).then_some(message) };
    let commands = outbox.queue().link.receive(frame, now());
    if !commands.is_empty() {
        outbox.wake.notify_one();
    }
    commands
}

/// Fetches content, one after another, over whatever connection there is.
async fn serve_fetches(mut fetches: mpsc::Receiver<Fetch>, mut channel: watch::Receiver<Channel>, lease: Duration) {
    while let Some(Fetch { hash, answer }) = fetches.recv().await {
        let _ = answer.send(fetch(hash, &mut channel, lease).await.map_err(FetchError));
    }
}

async fn fetch(hash: Hash, channel: &mut watch::Receiver<Channel>, lease: Duration) -> Result<Vec<u8>, String> {
    let mut content = Vec::new();
    let mut until = now() + lease;
    loop {
        let before = content.len();
        let current = channel.borrow_and_update().clone();
        let why = match pieces(&current, hash, &mut content, lease).await {
            Ok(()) if Hash::of(&content) == hash => return Ok(content),
            Ok(()) => return Err("what came has another hash".to_owned()),
            Err(Broken::For(why)) => return Err(why),
            Err(Broken::Now(why)) => why,
        };
        // What has come stays; the rest may come over the next connection.
        if content.len() > before {
            until = now() + lease;
        }
        if now() >= until {
            return Err(why);
        }
        let _ = tokio::time::timeout(DIAL_PAUSE, channel.changed()).await;
    }
}

/// Why no more pieces come: for good, or for now.
enum Broken {
    For(String),
    Now(String),
}

async fn pieces(channel: &Channel, hash: Hash, content: &mut Vec<u8>, patience: Duration) -> Result<(), Broken> {
    let of_status = |status: tonic::Status| match status.code() {
        tonic::Code::NotFound | tonic::Code::OutOfRange => Broken::For(status.message().to_owned()),
        _ => Broken::Now(status.message().to_owned()),
    };
    let late = |_| Broken::Now("nothing came for a while".to_owned());
    let call = tokio::time::timeout(patience, channel.fetch(&hash.0, content.len() as u64));
    let mut stream = call.await.map_err(late)?.map_err(of_status)?;
    loop {
        let piece = tokio::time::timeout(patience, stream.message()).await.map_err(late)?.map_err(of_status)?;
        let Some(piece) = piece else { return Err(Broken::Now("it ended early".to_owned())) };
        if piece.total > CONTENT_BYTES_MAX {
            return Err(Broken::For(format!("it has {} bytes, the limit is {CONTENT_BYTES_MAX}", piece.total)));
        }
        if (content.len() + piece.data.len()) as u64 > piece.total {
            return Err(Broken::For("there is more of it than there should be".to_owned()));
        }
        content.extend_from_slice(&piece.data);
        if content.len() as u64 == piece.total {
            return Ok(());
        }
    }
}
