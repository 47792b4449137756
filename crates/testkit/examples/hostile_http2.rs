//! Starts every HTTP/2 server that misbehaves and prints where they listen, as JSON, until its standard input ends: for
//! looking at what another client does with them. `plain` as an argument leaves TLS out.

use onrush_testkit::{
    CertificateAuthority,
    http2::{FrameServer, misbehaviours},
    serve_until_input_ends,
};

fn main() -> anyhow::Result<()> {
    let plain = std::env::args().any(|argument| argument == "plain");
    let config = CertificateAuthority::new().identity(&["127.0.0.1"]).http2_server();
    let mut urls = serde_json::Map::new();
    let mut servers = Vec::new();
    for case in misbehaviours() {
        let server =
            if plain { FrameServer::start(case.run) } else { FrameServer::start_tls(config.clone(), case.run) };
        urls.insert(case.name.to_owned(), server.url("/").into());
        servers.push(server);
    }
    Ok(serve_until_input_ends(&urls.into())?)
}
