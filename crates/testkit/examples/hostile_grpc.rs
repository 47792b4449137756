//! Starts every gRPC server that misbehaves and prints where they listen, as JSON, until its standard input ends: for
//! looking at what another client does with them.

use onrush_testkit::{grpc, http2::FrameServer, serve_until_input_ends};

fn main() -> anyhow::Result<()> {
    let mut addresses = serde_json::Map::new();
    let mut servers = Vec::new();
    for case in grpc::misbehaviours() {
        let server = FrameServer::start(case.run);
        addresses.insert(case.name.to_owned(), server.addr().to_string().into());
        servers.push(server);
    }
    Ok(serve_until_input_ends(&addresses.into())?)
}
