//! A receiver of OpenTelemetry's protocol, over gRPC or HTTP, that believes nothing: what it is sent is read field by field, without the
//! code under test, and everything the protocol forbids is noted. It may also misbehave.

mod protobuf;
mod read;

use std::{
    io::Read as _,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use flate2::read::GzDecoder;
use rustls::ServerConfig;

pub use self::read::{Point, PointValue, SpanSeen};
use crate::{
    good::{GoodServer, Reply},
    http2::{FrameServer, Talk, frame},
};

/// A receiver on loopback, until it is dropped.
pub struct OtlpReceiver {
    server: Server,
    state: Arc<Mutex<State>>,
}

enum Server {
    Http(GoodServer),
    Grpc(FrameServer),
}

/// What a receiver does with requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Mood {
    /// Takes them.
    #[default]
    Takes,
    /// Takes them after a while.
    TakesAfter(Duration),
    /// Takes them, and says that it left out so many data points or spans.
    LeavesOut(u8),
    /// Is overloaded, which may pass.
    Unavailable,
    /// Finds them wrong.
    Refuses,
    /// Answers with something else.
    TalksGarbage,
    /// Closes the connection.
    HangsUp,
}

#[derive(Default)]
struct State {
    mood: Mood,
    points: Vec<Point>,
    spans: Vec<SpanSeen>,
    resources: Vec<Vec<(String, String)>>,
    headers: Vec<(String, String)>,
    problems: Vec<String>,
    requests: u64,
}

impl OtlpReceiver {
    /// Takes protobuf over HTTP.
    ///
    /// # Panics
    /// When no port is free.
    pub fn http(tls: Option<Arc<ServerConfig>>) -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let own = state.clone();
        let handler = move |request: &crate::Incoming| {
            lock(&own).headers.clone_from(&request.headers);
            let is_traces = match request.target.as_str() {
                "/v1/metrics" => false,
                "/v1/traces" => true,
                _ => return Reply::status(404),
            };
            let is_gzipped = request.header("Content-Encoding") == Some("gzip");
            if request.method != "POST" || request.header("Content-Type") != Some(PROTOBUF) {
                lock(&own).problems.push(format!("{} with {:?}", request.method, request.header("Content-Type")));
            }
            let protobuf = |body: Vec<u8>| Reply::text(body).header("Content-Type", PROTOBUF);
            match take(&own, is_traces, is_gzipped, &request.body) {
                (Answer::Taken(body), delay) => protobuf(body).after(delay),
                (Answer::Unavailable, _) => Reply { status: 503, ..Reply::text("overloaded") },
                (Answer::Refused, _) => Reply { status: 400, ..Reply::text("wrong") },
                (Answer::Garbage, _) => Reply::text("<h1>hello</h1>").header("Content-Type", "text/html"),
                (Answer::Nothing, _) => Reply::text("").announcing(10).closing(),
            }
        };
        let server = match tls {
            None => GoodServer::start(handler),
            Some(tls) => GoodServer::start_tls(tls, handler),
        };
        Self { server: Server::Http(server), state }
    }

    /// Takes calls of gRPC.
    ///
    /// # Panics
    /// When no port is free.
    pub fn grpc(tls: Option<Arc<ServerConfig>>) -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let own = state.clone();
        let script = move |talk: &mut Talk| _ = serve_grpc(talk, &own);
        let server = match tls {
            None => FrameServer::start(script),
            Some(tls) => FrameServer::start_tls(tls, script),
        };
        Self { server: Server::Grpc(server), state }
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        match &self.server {
            Server::Http(server) => server.addr(),
            Server::Grpc(server) => server.addr(),
        }
    }

    /// What it does from now on.
    pub fn set_mood(&self, mood: Mood) {
        lock(&self.state).mood = mood;
    }

    /// The data points it took, in their order.
    pub fn points(&self) -> Vec<Point> {
        lock(&self.state).points.clone()
    }

    /// The spans it took, in their order.
    pub fn spans(&self) -> Vec<SpanSeen> {
        lock(&self.state).spans.clone()
    }

    /// The attributes of the last resource it took.
    pub fn resource(&self) -> Vec<(String, String)> {
        lock(&self.state).resources.last().cloned().unwrap_or_default()
    }

    /// Headers of the last request over HTTP.
    pub fn headers(&self) -> Vec<(String, String)> {
        lock(&self.state).headers.clone()
    }

    /// Requests it read, whatever became of them.
    pub fn requests(&self) -> u64 {
        lock(&self.state).requests
    }

    /// What the protocol forbids.
    pub fn problems(&self) -> Vec<String> {
        lock(&self.state).problems.clone()
    }
}

const PROTOBUF: &str = "application/x-protobuf";

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

enum Answer {
    Taken(Vec<u8>),
    Unavailable,
    Refused,
    Garbage,
    Nothing,
}

/// Takes a message or not, and what is said about it, after how long.
fn take(state: &Mutex<State>, is_traces: bool, is_gzipped: bool, body: &[u8]) -> (Answer, Duration) {
    let mut state = lock(state);
    state.requests += 1;
    let (delay, left_out) = match state.mood {
        Mood::Takes => (Duration::ZERO, 0),
        Mood::TakesAfter(delay) => (delay, 0),
        Mood::LeavesOut(count) => (Duration::ZERO, count),
        Mood::Unavailable => return (Answer::Unavailable, Duration::ZERO),
        Mood::Refuses => return (Answer::Refused, Duration::ZERO),
        Mood::TalksGarbage => return (Answer::Garbage, Duration::ZERO),
        Mood::HangsUp => return (Answer::Nothing, Duration::ZERO),
    };
    let mut unpacked = Vec::new();
    let message = match is_gzipped {
        false => body,
        true => match GzDecoder::new(body).read_to_end(&mut unpacked) {
            Ok(_) => &unpacked,
            Err(error) => {
                state.problems.push(format!("not gzip: {error}"));
                return (Answer::Refused, delay);
            }
        },
    };
    let resources = if is_traces {
        read::traces(message).map(|(resources, spans)| {
            state.spans.extend(spans);
            resources
        })
    } else {
        read::metrics(message).map(|(resources, points)| {
            state.points.extend(points);
            resources
        })
    };
    match resources {
        Ok(resources) => state.resources.extend(resources),
        Err(problem) => {
            state.problems.push(problem);
            return (Answer::Refused, delay);
        }
    }
    // A partial success: a number, and a sentence.
    let body = if left_out == 0 { Vec::new() } else { vec![10, 7, 8, left_out, 18, 3, b'o', b'l', b'd'] };
    (Answer::Taken(body), delay)
}

/// Answers calls one after the other until the client goes away.
fn serve_grpc(talk: &mut Talk, state: &Mutex<State>) -> Option<()> {
    const WINDOW: u32 = 16 << 20;
    const SETTINGS_INITIAL_WINDOW_SIZE: u16 = 4;
    if !talk.greet(&[(SETTINGS_INITIAL_WINDOW_SIZE, WINDOW)]) {
        return None;
    }
    talk.send(&frame::window_update(0, WINDOW));
    loop {
        let stream = talk.request()?;
        let mut body = Vec::new();
        loop {
            let read = talk.frame()?;
            match read.kind {
                frame::DATA if read.stream == stream => {
                    if !read.payload.is_empty() {
                        talk.send(&frame::window_update(0, read.payload.len() as u32));
                    }
                    body.extend_from_slice(&read.payload);
                    if read.flags & frame::END_STREAM != 0 {
                        break;
                    }
                }
                frame::SETTINGS if read.flags & frame::ACK == 0 => _ = talk.send(&frame::settings_ack()),
                frame::PING if read.flags & frame::ACK == 0 => {
                    talk.send(&frame::ping(frame::ACK, &read.payload));
                }
                _ => {}
            }
        }
        let (Some((head, message)), true) = (body.split_first_chunk::<5>(), body.len() >= 5) else {
            lock(state).problems.push(format!("a message of {} bytes", body.len()));
            return None;
        };
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        if length != message.len() || head[0] > 1 {
            lock(state).problems.push(format!("a frame of {length} bytes with {}", message.len()));
        }
        // Which method is meant is in a head that is compressed: what it carries tells it as well.
        let is_traces = read::is_traces(message);
        let (answer, delay) = take(state, is_traces, head[0] == 1, message);
        talk.pause(delay);
        let fine = [(":status", "200"), ("content-type", "application/grpc")];
        let ended = |status: &str, text: &str| {
            let fields = [fine[0], fine[1], ("grpc-status", status), ("grpc-message", text)];
            frame::headers(stream, frame::END, &fields)
        };
        let bytes = match answer {
            Answer::Taken(body) => {
                let mut message = vec![0, 0, 0, 0, body.len() as u8];
                message.extend_from_slice(&body);
                let head = frame::headers(stream, frame::END_HEADERS, &fine);
                let trailers = frame::headers(stream, frame::END, &[("grpc-status", "0")]);
                [head, frame::data(stream, 0, &message), trailers].concat()
            }
            Answer::Unavailable => ended("14", "overloaded"),
            Answer::Refused => ended("3", "wrong"),
            Answer::Garbage => {
                let head = frame::headers(stream, frame::END_HEADERS, &fine);
                let trailers = frame::headers(stream, frame::END, &[("grpc-status", "0")]);
                [head, frame::data(stream, 0, &[0, 0, 0, 0, 2, 10, 255]), trailers].concat()
            }
            Answer::Nothing => return None,
        };
        talk.send(&bytes);
    }
}
