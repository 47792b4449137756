//! `grpc.reflection.v1` and `v1alpha`: what services a server has, in its own words.

use std::{
    hash::{BuildHasher, RandomState},
    rc::Rc,
    sync::LazyLock,
};

use bytes::Bytes;
use onrush_fiber::Nanos;
use onrush_net::Connections;
use prost_reflect::{prost::Message as _, prost_types::FileDescriptorProto};
use rustc_hash::FxHashSet;

use crate::{
    call::{Call, HEAD_BYTES, finish},
    channel::{Channel, Request},
    message::{Decoder, Message, Value, Writer},
    metadata::Metadata,
    schema::Schema,
    status::{Code, Status},
};

/// A schema that could not be learnt. The texts are k6's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the texts say it")]
pub enum ReflectionError {
    #[error("can't list services: {0}")]
    List(Status),
    #[error("can't get method on service {service:?}: {status}")]
    Service { service: String, status: Status },
    #[error("can't convert method info: {0}")]
    Convert(String),
    #[error("the server's descriptors are larger than {} MiB", DESCRIPTOR_BYTES_MAX >> 20)]
    TooLarge,
}

/// What a server has said: files that describe its services, serialised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Learnt {
    files: Vec<Vec<u8>>,
}

impl Learnt {
    /// A number that stands for these files: VUs that ask the same server share one schema.
    pub fn fingerprint(&self) -> u64 {
        // Keys are random, so that a server cannot choose two that are alike.
        static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
        KEYS.hash_one(&self.files)
    }

    /// The files as a schema.
    ///
    /// # Errors
    /// When they make none.
    pub fn schema(&self) -> Result<Schema, ReflectionError> {
        Schema::from_file_descriptors(self.files.iter().map(Vec::as_slice))
            .map_err(|error| ReflectionError::Convert(error.to_string()))
    }
}

/// The exchange with one server.
struct Conversation {
    call: Rc<Call>,
    /// Serialised, in the order they came.
    files: Vec<Vec<u8>>,
    names: FxHashSet<String>,
    bytes: usize,
}

/// Asks a server for all it has. Each version of the protocol is a call of its own; `report` is told of its end.
///
/// # Errors
/// When the server does not know reflection, or what it says makes no schema.
pub fn learn(
    channel: &Rc<Channel>,
    connections: &Connections,
    metadata: &Metadata,
    deadline: Option<Nanos>,
    report: &mut dyn FnMut(&'static str, &Status),
) -> Result<Learnt, ReflectionError> {
    let mut unknown = Status::new(Code::UNIMPLEMENTED, "");
    for path in PATHS {
        let request = Request { path, metadata, deadline, is_unary: false };
        let outcome = converse(channel, connections, &request);
        let status = match &outcome {
            Err(ReflectionError::List(status) | ReflectionError::Service { status, .. }) => status.clone(),
            _ => Status::OK,
        };
        report(path, &status);
        match outcome {
            Err(ReflectionError::List(status)) if status.code == Code::UNIMPLEMENTED => unknown = status,
            Err(error) => return Err(error),
            Ok(files) => return Ok(Learnt { files }),
        }
    }
    Err(ReflectionError::List(unknown))
}

fn converse(
    channel: &Rc<Channel>,
    connections: &Connections,
    request: &Request<'_>,
) -> Result<Vec<Vec<u8>>, ReflectionError> {
    let call = channel.start(connections, request).map_err(ReflectionError::List)?;
    let mut talk = Conversation { call, files: Vec::new(), names: FxHashSet::default(), bytes: 0 };
    for service in talk.list().map_err(ReflectionError::List)? {
        let failed = |status| ReflectionError::Service { service: service.clone(), status };
        talk.ask(FILE_CONTAINING_SYMBOL, &service).map_err(failed)??;
    }
    let mut next = 0;
    while let Some(file) = talk.files.get(next) {
        next += 1;
        let Ok(file) = FileDescriptorProto::decode(file.as_slice()) else { continue };
        for import in file.dependency {
            if !talk.names.contains(&import) {
                // A server may lack what nobody needs.
                if let Ok(outcome) = talk.ask(FILE_BY_FILENAME, &import) {
                    outcome?;
                }
                talk.names.insert(import);
            }
        }
    }
    talk.call.end();
    Ok(talk.files)
}

impl Conversation {
    fn list(&self) -> Result<Vec<String>, Status> {
        let answer = self.exchange(LIST_SERVICES, "*")?;
        read(&answer, |response| {
            let Some(Value::Message(list)) = response.numbered(&SCHEMA, 6) else {
                return Err(refusal(response));
            };
            let Some(Value::Many(services)) = list.numbered(&SCHEMA, 1) else { return Ok(Vec::new()) };
            let name = |service: &Value<'_>| match service {
                Value::Message(service) => Some(String::from_utf8_lossy(service.bytes(&SCHEMA, 1)).into_owned()),
                _ => None,
            };
            Ok(services.iter().take(SERVICES_MAX).filter_map(name).collect())
        })
    }

    /// Asks for files and keeps those that are new.
    fn ask(&mut self, field: u32, what: &str) -> Result<Result<(), ReflectionError>, Status> {
        let answer = self.exchange(field, what)?;
        let files = read(&answer, |response| {
            let Some(Value::Message(list)) = response.numbered(&SCHEMA, 4) else {
                return Err(refusal(response));
            };
            let Some(Value::Many(files)) = list.numbered(&SCHEMA, 1) else { return Ok(Vec::new()) };
            let bytes = |file: &Value<'_>| match file {
                Value::Bytes(bytes) => Some(bytes.to_vec()),
                _ => None,
            };
            Ok(files.iter().filter_map(bytes).collect())
        })?;
        for file in files {
            self.bytes += file.len();
            if self.bytes > DESCRIPTOR_BYTES_MAX {
                return Ok(Err(ReflectionError::TooLarge));
            }
            match FileDescriptorProto::decode(file.as_slice()) {
                Ok(described) => {
                    if self.names.insert(described.name().to_owned()) {
                        self.files.push(file);
                    }
                }
                Err(error) => return Ok(Err(ReflectionError::Convert(error.to_string()))),
            }
        }
        Ok(Ok(()))
    }

    fn exchange(&self, field: u32, what: &str) -> Result<Bytes, Status> {
        let mut writer = Writer::with_room(HEAD_BYTES);
        writer.bytes_field(field, what.as_bytes());
        let mut frame = writer.into_bytes();
        finish(&mut frame);
        self.call.send(frame.into(), false)?;
        self.call.receive()?.ok_or_else(|| Status::new(Code::UNKNOWN, "EOF"))
    }
}

fn read<T>(answer: &[u8], look: impl FnOnce(&Message<'_>) -> Result<T, Status>) -> Result<T, Status> {
    let malformed = |text: String| Status::new(Code::INTERNAL, text);
    let id = SCHEMA.message_named("grpc.reflection.ServerReflectionResponse");
    let id = id.ok_or_else(|| malformed("the schema of reflection is not complete".to_owned()))?;
    let mut pause = || true;
    let response = Decoder::new(&SCHEMA, TREE_BYTES_MAX, &mut pause)
        .message(id, answer)
        .map_err(|error| malformed(format!("grpc: failed to unmarshal the received message: {error}")))?;
    look(&response)
}

/// What the server says instead of an answer.
fn refusal(response: &Message<'_>) -> Status {
    match response.numbered(&SCHEMA, 7) {
        Some(Value::Message(error)) => Status::new(
            Code(error.integer(&SCHEMA, 1) as u32),
            String::from_utf8_lossy(error.bytes(&SCHEMA, 2)).into_owned(),
        ),
        _ => Status::new(Code::INTERNAL, "the server has answered another question"),
    }
}

/// Newest first.
const PATHS: [&str; 2] = [
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];
/// Fields of a request.
const FILE_BY_FILENAME: u32 = 3;
const FILE_CONTAINING_SYMBOL: u32 = 4;
const LIST_SERVICES: u32 = 7;
/// Far more than any server has.
const SERVICES_MAX: usize = 10_000;
const DESCRIPTOR_BYTES_MAX: usize = 64 << 20;
const TREE_BYTES_MAX: usize = 16 << 20;

static SCHEMA: LazyLock<Schema> =
    LazyLock::new(|| super::schema::built_in("reflection.proto", include_str!("reflection.proto")));
