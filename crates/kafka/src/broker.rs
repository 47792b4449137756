//! A connection to one broker: requests, answers, the login.

use bytes::Bytes;

use crate::{
    KafkaError, Login, Stream, World,
    error::checked,
    sasl::Conversation,
    wire::{Put, Reader},
};

/// What brokers can be asked, each in one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Api {
    Produce,
    Fetch,
    ListOffsets,
    Metadata,
    OffsetCommit,
    OffsetFetch,
    FindCoordinator,
    JoinGroup,
    Heartbeat,
    LeaveGroup,
    SyncGroup,
    SaslHandshake,
    CreateTopics,
    DeleteTopics,
    SaslAuthenticate,
}

impl Api {
    /// Its number, and the version that is spoken.
    const fn key(self) -> (i16, i16) {
        match self {
            Self::Produce => (0, 7),
            Self::Fetch => (1, 10),
            Self::ListOffsets => (2, 2),
            Self::Metadata => (3, 4),
            Self::OffsetCommit => (8, 2),
            Self::OffsetFetch => (9, 1),
            Self::FindCoordinator => (10, 1),
            Self::JoinGroup => (11, 2),
            Self::Heartbeat => (12, 1),
            Self::LeaveGroup => (13, 1),
            Self::SyncGroup => (14, 1),
            Self::SaslHandshake => (17, 1),
            Self::CreateTopics => (19, 2),
            Self::DeleteTopics => (20, 1),
            Self::SaslAuthenticate => (36, 0),
        }
    }
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Broker<S> {
    stream: S,
    client_id: String,
    number: i32,
    inbox: Vec<u8>,
}

impl<S: Stream> Broker<S> {
    /// Logs in over a new connection.
    pub(crate) fn open<W: World<Stream = S>>(
        world: &mut W,
        stream: S,
        client_id: &str,
        login: Option<&Login>,
        deadline_ns: u64,
    ) -> Result<Self, KafkaError> {
        let mut broker = Self { stream, client_id: client_id.to_owned(), number: 0, inbox: Vec::new() };
        if let Some(login) = login {
            broker.log_in(world, login, deadline_ns)?;
        }
        Ok(broker)
    }

    fn log_in<W: World<Stream = S>>(
        &mut self,
        world: &mut W,
        login: &Login,
        deadline_ns: u64,
    ) -> Result<(), KafkaError> {
        let mut hello = Vec::new();
        hello.put_text(login.mechanism.name());
        let mut answer = self.ask(world, Api::SaslHandshake, &hello, deadline_ns)?;
        checked(answer.i16()?)?;
        let (mut conversation, mut words) = Conversation::begin(login)?;
        loop {
            let mut request = Vec::new();
            request.put_bytes(&words);
            let mut answer = self.ask(world, Api::SaslAuthenticate, &request, deadline_ns)?;
            let code = answer.i16()?;
            let text = answer.optional_text()?.unwrap_or_default();
            if code != 0 && !text.is_empty() {
                return Err(KafkaError::RefusedWith(code, text));
            }
            checked(code)?;
            match conversation.go_on(world, &answer.bytes()?)? {
                Some((next, more)) => (conversation, words) = (next, more),
                None => return Ok(()),
            }
        }
    }

    /// Sends a request and waits for the answer.
    pub(crate) fn ask<W: World<Stream = S>>(
        &mut self,
        world: &mut W,
        api: Api,
        body: &[u8],
        deadline_ns: u64,
    ) -> Result<Reader, KafkaError> {
        self.send(api, body, deadline_ns)?;
        self.receive(world, 0, deadline_ns)
    }

    /// Sends a request.
    pub(crate) fn send(&mut self, api: Api, body: &[u8], deadline_ns: u64) -> Result<(), KafkaError> {
        self.number = self.number.wrapping_add(1);
        let (key, version) = api.key();
        let mut request = Vec::with_capacity(body.len() + REQUEST_HEAD_BYTES + self.client_id.len());
        request.put_i32(0);
        request.put_i16(key);
        request.put_i16(version);
        request.put_i32(self.number);
        request.put_text(&self.client_id);
        request.extend_from_slice(body);
        let length = i32::try_from(request.len() - LENGTH_BYTES)
            .map_err(|_| KafkaError::Invalid("the request is longer than 2 GiB".to_owned()))?;
        request[..LENGTH_BYTES].copy_from_slice(&length.to_be_bytes());
        self.stream.write(&request, deadline_ns)
    }

    /// Waits for the answer to the request that was sent last. `held` is what is held besides.
    pub(crate) fn receive<W: World<Stream = S>>(
        &mut self,
        world: &mut W,
        held: usize,
        deadline_ns: u64,
    ) -> Result<Reader, KafkaError> {
        self.fill(world, LENGTH_BYTES, held, deadline_ns)?;
        let length = i32::from_be_bytes([self.inbox[0], self.inbox[1], self.inbox[2], self.inbox[3]]);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > ANSWER_BYTES_MAX {
            // TLS where none is expected, or HTTP, looks like this as well.
            return Err(KafkaError::TooLarge(format!(
                "the broker's answer is longer than {ANSWER_BYTES_MAX} bytes, or it does not speak Kafka's protocol"
            )));
        }
        self.fill(world, LENGTH_BYTES + length, held, deadline_ns)?;
        if self.inbox.len() > LENGTH_BYTES + length {
            return Err(KafkaError::malformed("there is more than was asked for"));
        }
        let answer = Bytes::from(std::mem::take(&mut self.inbox));
        let mut reader = Reader::new(answer.slice(LENGTH_BYTES..));
        let number = reader.i32()?;
        if number != self.number {
            return Err(KafkaError::malformed(&format!("request {} has the answer of {number}", self.number)));
        }
        Ok(reader)
    }

    fn fill<W: World<Stream = S>>(
        &mut self,
        world: &mut W,
        count: usize,
        held: usize,
        deadline_ns: u64,
    ) -> Result<(), KafkaError> {
        while self.inbox.len() < count {
            // Grows with what comes, not with what is announced.
            if !self.stream.read(&mut self.inbox, deadline_ns)? {
                return Err(KafkaError::broken("unexpected EOF"));
            }
            world.hold(held + self.inbox.len())?;
            world.pause()?;
        }
        Ok(())
    }

    /// Whether it can be used for another request.
    pub(crate) fn is_quiet(&self) -> bool {
        self.inbox.is_empty() && self.stream.is_quiet()
    }
}

const LENGTH_BYTES: usize = 4;
const REQUEST_HEAD_BYTES: usize = 14;
/// Twice what a broker sends of one partition by default.
pub(crate) const ANSWER_BYTES_MAX: usize = 100 << 20;
