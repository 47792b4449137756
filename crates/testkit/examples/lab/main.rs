//! The servers that conformance scripts meet beside the built-in target: wrong certificates, broken HTTP, HTTP/2 errors.
//!
//! `cargo xtask conformance` starts it once for all scripts. It prints one line of JSON, the variables that scripts
//! get in `__ENV`, and serves until its standard input ends:
//!
//! - `PEERS`, `host:port`: HTTP/1.1 where the path says what goes wrong; see [`plain`]
//! - `HALF_DEAD`, `host:port`: the same, but whoever connects to its port on `::1` waits for ever
//! - `PROXY`, `LOCKED_PROXY`, `host:port`: proxies over HTTP and SOCKS 5 that lead names of any kind to the peers (port
//!   443 to those of TLS), but for `forbidden.test` and `gone.test`; the second asks for `user:pass`
//! - `DNS_SERVER`: the address of a DNS server, see [`names`]; missing where port 53 is not to be had
//! - `TLS_PEERS`, `host:port`: TLS where the name that is asked for says so; see [`tls`] and [`http2`]
//! - `MODULES`, `https://host:port`: a server of modules, see [`modules`]
//! - `LAB_CA`, `CLIENT_CERT`, `CLIENT_KEY`, …: PEM texts
//!
//! The first argument is a file, which gets the certificates that clients shall trust.

mod http2;
mod modules;
mod names;
mod plain;
mod tls;

use std::{
    net::{TcpListener, TcpStream},
    sync::Arc,
};

use anyhow::{Context, Result};
use onrush_testkit::{GoodProxy, Way};

fn main() -> Result<()> {
    let trusted = std::env::args_os().nth(1).context("which file gets the certificates to trust?")?;
    let tls = tls::Names::new()?;
    std::fs::write(&trusted, tls.authority_pem()).context("cannot write the certificates to trust")?;
    let mut variables = tls.variables();
    let names = Arc::new(names::Names::start());
    if let Some(address) = names.address() {
        variables.insert("DNS_SERVER".to_owned(), address.to_string().into());
    }
    let plain = Arc::new(move |stream| plain::serve(stream, &names));
    let listeners = names::listen_everywhere()?;
    let peers = listeners[0].local_addr()?;
    for listener in listeners {
        accept(listener, &plain);
    }
    variables.insert("PEERS".to_owned(), peers.to_string().into());
    let half_dead = names::HalfDead::start(|listener| accept(listener, &plain))?;
    variables.insert("HALF_DEAD".to_owned(), half_dead.address.to_string().into());
    let modules = modules::start(tls.good());
    variables.insert("MODULES".to_owned(), modules.url("").into());
    let tls = Arc::new(move |stream| tls.serve(stream));
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("loopback has no free port")?;
    let tls_peers = listener.local_addr()?;
    variables.insert("TLS_PEERS".to_owned(), tls_peers.to_string().into());
    accept(listener, &tls);
    let guide = move |name: &str, port: u16| match (name, port) {
        ("forbidden.test", _) => Way::Refused { status: "403 Forbidden", socks: SOCKS_NOT_ALLOWED },
        ("gone.test", _) => Way::Refused { status: "504 Gateway Timeout", socks: SOCKS_HOST_UNREACHABLE },
        (_, 443) => Way::To(tls_peers),
        _ => Way::To(peers),
    };
    let proxies = [("PROXY", None), ("LOCKED_PROXY", Some("user:pass"))]
        .map(|(name, credentials)| (name, GoodProxy::start_with(credentials, guide)));
    for (name, proxy) in &proxies {
        variables.insert((*name).to_owned(), proxy.addr().to_string().into());
    }
    Ok(onrush_testkit::serve_until_input_ends(&variables.into())?)
}

/// Serves a listener, with a thread a connection.
fn accept(listener: TcpListener, peer: &Arc<impl Fn(TcpStream) -> std::io::Result<()> + Send + Sync + 'static>) {
    let peer = Arc::clone(peer);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let peer = Arc::clone(&peer);
            // An error is how most of these conversations end.
            std::thread::spawn(move || peer(stream).is_ok());
        }
    });
}

/// Replies of SOCKS 5.
const SOCKS_NOT_ALLOWED: u8 = 2;
const SOCKS_HOST_UNREACHABLE: u8 = 4;
