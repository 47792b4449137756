//! Calls of a gRPC method with one message each, over a connection that is made when it is needed, and again when it is gone.

use std::{rc::Rc, time::Duration};

use onrush_fiber::Clock;
use onrush_grpc::{
    Channel, ChannelOptions, Code, Metadata, Request, Status,
    call::{HEAD_BYTES, finish},
};
use onrush_net::Connections;

use super::{ANSWER_BYTES_MAX, Answer, Refused, USER_AGENT};

/// A method, and what is the same in all its calls.
pub(crate) struct Method {
    /// `host:port`
    pub(crate) address: String,
    /// Without TLS.
    pub(crate) is_plaintext: bool,
    /// `/package.Service/Method`
    pub(crate) path: &'static str,
    /// Goes with every call.
    pub(crate) metadata: Metadata,
    /// Messages are compressed already, with gzip.
    pub(crate) is_gzipped: bool,
    /// How long a call may take.
    pub(crate) deadline: Duration,
}

/// Calls a method.
pub(super) struct Caller {
    method: Method,
    channel: Option<Rc<Channel>>,
}

impl Caller {
    pub(super) fn new(method: Method) -> Self {
        Self { method, channel: None }
    }

    /// Sends a message and waits for the answer.
    pub(super) fn call(&mut self, connections: &Connections, message: &[u8]) -> Result<Answer, Refused> {
        let deadline = Clock::now() + self.method.deadline;
        let channel = match &self.channel {
            Some(channel) => Rc::clone(channel),
            None => {
                let channel = Channel::connect(connections, self.options(), deadline)
                    .map_err(|error| Refused::for_now(error.to_string()))?;
                Rc::clone(self.channel.insert(channel))
            }
        };
        let Method { path, metadata, is_gzipped, .. } = &self.method;
        let exchange = || {
            let request = Request { path, metadata, deadline: Some(deadline), is_unary: true };
            let call = channel.start(connections, &request)?;
            let mut frame = vec![0; HEAD_BYTES];
            frame.extend_from_slice(message);
            finish(&mut frame);
            frame[0] = u8::from(*is_gzipped);
            call.send(frame.into(), true)?;
            let answer = call.receive()?.unwrap_or_default();
            // The status comes after the message.
            call.receive()?;
            Ok(answer)
        };
        exchange().map(|body| Answer { content_type: String::new(), body }).map_err(|status| refused(&status))
    }

    fn options(&self) -> ChannelOptions {
        ChannelOptions {
            address: self.method.address.clone(),
            is_plaintext: self.method.is_plaintext,
            authority: None,
            tls: None,
            user_agent: USER_AGENT.to_owned(),
            receive_bytes_max: ANSWER_BYTES_MAX as usize,
            send_bytes_max: ChannelOptions::SEND_BYTES_MAX,
            sends_gzip: self.method.is_gzipped,
        }
    }
}

/// OTLP says which statuses may pass.
fn refused(status: &Status) -> Refused {
    const ABORTED: Code = Code(10);
    const OUT_OF_RANGE: Code = Code(11);
    const DATA_LOSS: Code = Code(15);
    let passing = [
        Code::CANCELED,
        Code::DEADLINE_EXCEEDED,
        Code::RESOURCE_EXHAUSTED,
        Code::UNAVAILABLE,
        ABORTED,
        OUT_OF_RANGE,
        DATA_LOSS,
    ];
    let why = status.to_string();
    if passing.contains(&status.code) { Refused::for_now(why) } else { Refused::for_good(why) }
}
