//! The servers that conformance scripts meet beside the built-in target: wrong certificates, broken HTTP, HTTP/2 errors.
//!
//! `cargo xtask conformance` starts it once for all scripts. It prints one line of JSON, the variables that scripts
//! get in `__ENV`, and serves until its standard input ends:
//!
//! - `PEERS`, `host:port`: HTTP/1.1 where the path says what goes wrong; see [`plain`]
//! - `TLS_PEERS`, `host:port`: TLS where the name that is asked for says so; see [`tls`] and [`http2`]
//! - `LAB_CA`, `CLIENT_CERT`, `CLIENT_KEY`, …: PEM texts
//!
//! The first argument is a file, which gets the certificates that clients shall trust.

mod http2;
mod plain;
mod tls;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

use anyhow::{Context, Result};

fn main() -> Result<()> {
    let trusted = std::env::args_os().nth(1).context("which file gets the certificates to trust?")?;
    let tls = tls::Names::new()?;
    std::fs::write(&trusted, tls.authority_pem()).context("cannot write the certificates to trust")?;
    let mut variables = tls.variables();
    variables.insert("PEERS".to_owned(), serve(plain::serve)?.to_string().into());
    variables.insert("TLS_PEERS".to_owned(), serve(move |stream| tls.serve(stream))?.to_string().into());
    Ok(onrush_testkit::serve_until_input_ends(&variables.into())?)
}

/// Listens on a free port of loopback, with a thread a connection.
fn serve(peer: impl Fn(TcpStream) -> std::io::Result<()> + Send + Sync + 'static) -> Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("loopback has no free port")?;
    let address = listener.local_addr()?;
    let peer = Arc::new(peer);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let peer = Arc::clone(&peer);
            // An error is how most of these conversations end.
            std::thread::spawn(move || peer(stream).is_ok());
        }
    });
    Ok(address)
}
