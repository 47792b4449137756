//! What a call says of servers that misbehave, and what k6 says.

use std::{collections::BTreeMap, sync::mpsc, time::Duration};

use onrush_fiber::{Clock, Reactor, ReactorConfig, spawn};
use onrush_grpc::{
    Channel, ChannelOptions, Code, Metadata, Request, Schema, Status, call,
    message::{Decoder, Writer},
};
use onrush_net::{ClientOptions, Connections};
use onrush_testkit::{grpc::misbehaviours, http2::FrameServer};

/// Outcomes of k6 1.8.1: `name code text`, a line each; then those of ours that are others on purpose.
const K6: &str = include_str!("hostile/k6.txt");
const OURS: &str = include_str!("hostile/ours.txt");

fn outcomes(text: &str) -> BTreeMap<&str, &str> {
    text.lines().filter_map(|line| line.split_once(' ')).collect()
}

/// One call, as a script makes it.
fn ask(address: String) -> Status {
    let (sender, receiver) = mpsc::channel();
    let reactor = Reactor::new(ReactorConfig::default()).expect("a reactor");
    spawn(None, move || {
        let shared = ClientOptions::default().build_thread().expect("good options");
        let connections = Connections::new(shared);
        let options = ChannelOptions {
            address,
            is_plaintext: true,
            authority: None,
            tls: None,
            user_agent: "test".to_owned(),
            receive_bytes_max: ChannelOptions::RECEIVE_BYTES_MAX,
            send_bytes_max: ChannelOptions::SEND_BYTES_MAX,
            sends_gzip: false,
        };
        let soon = Clock::now() + Duration::from_secs(20);
        let channel = Channel::connect(&connections, options, soon).expect("it answers in HTTP/2");
        let request = Request {
            path: "/target.Echo/All",
            metadata: &Metadata::default(),
            deadline: Some(Clock::now() + Duration::from_secs(2)),
            is_unary: true,
        };
        let outcome = channel.start(&connections, &request).and_then(|call| {
            let mut frame = Writer::with_room(call::HEAD_BYTES).into_bytes();
            call::finish(&mut frame);
            call.send(frame.into(), true)?;
            let message = call.receive()?.unwrap_or_default();
            while call.receive()?.is_some() {}
            read(&message)
        });
        sender.send(outcome.err().unwrap_or(Status::OK)).expect("somebody listens");
    });
    reactor.run();
    receiver.recv().expect("the fiber has said something")
}

fn read(message: &[u8]) -> Result<(), Status> {
    let schema = Schema::from_descriptor_set(include_bytes!("../../testsite/assets/grpc/target.binpb"));
    let schema = schema.expect("a complete set");
    let of = schema.message_named("target.Everything").expect("it is there");
    let read = Decoder::new(&schema, 1 << 20, &mut || true).message(of, message);
    let failed =
        |error| Status::new(Code::INTERNAL, format!("grpc: failed to unmarshal the received message: {error}"));
    read.map(drop).map_err(failed)
}

#[test]
fn servers_that_misbehave() {
    let (k6, ours) = (outcomes(K6), outcomes(OURS));
    let mut wrong = Vec::new();
    let mut count = 0;
    for case in misbehaviours() {
        count += 1;
        let server = FrameServer::start(case.run);
        let status = ask(server.addr().to_string());
        let port = server.addr().to_string();
        let said =
            format!("{} {}", status.code.0, status.message.lines().next().unwrap_or_default()).replace(&port, "PEER");
        let expected = ours.get(case.name).or_else(|| k6.get(case.name)).copied().unwrap_or("missing");
        if without_ports(said.trim_end()) != expected {
            wrong.push(format!("{} {}\n    expected: {expected}", case.name, without_ports(said.trim_end())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 25 && ours.keys().all(|name| k6.contains_key(name)));
}

/// Ends of connections are others each time.
fn without_ports(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("127.0.0.1:") {
        out.push_str(before);
        out.push_str("PEER");
        rest = after.trim_start_matches(|letter: char| letter.is_ascii_digit());
    }
    out + rest
}
