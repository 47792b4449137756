//! TLS: the name that a client asks for says what goes wrong. Scripts map `*.lab.test` here with the option `hosts`.

use std::{
    collections::HashMap,
    io::{Error, Read, Result, Write},
    net::{Shutdown, TcpStream},
    sync::Arc,
    time::Duration,
};

use onrush_testkit::{CertificateAuthority, Identity, staples};
use rustls::{ServerConfig, ServerConnection, StreamOwned, server::Acceptor};
use serde_json::{Map, Value};

use crate::{http2, plain};

/// What is done for which name.
pub(crate) struct Names {
    authority: CertificateAuthority,
    client: Identity,
    stranger: Identity,
    configs: HashMap<&'static str, Arc<ServerConfig>>,
    http2: Arc<ServerConfig>,
    /// `good.staple.lab.test` staples the OCSP response `good`, over TLS 1.2 `good.12.staple.lab.test`.
    staples: HashMap<String, Arc<ServerConfig>>,
}

impl Names {
    /// Makes all certificates.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let authority = CertificateAuthority::new();
        let other = CertificateAuthority::new();
        let good = authority.identity(&["*.lab.test", "*.h2.lab.test", "lab.test", "localhost", "127.0.0.1"]);
        let configs = [
            ("good.lab.test", good.server()),
            ("expired.lab.test", authority.expired_identity(&["*.lab.test"]).server()),
            ("unknown.lab.test", other.identity(&["*.lab.test"]).server()),
            ("wrong.lab.test", authority.identity(&["elsewhere.test"]).server()),
            ("tls12.lab.test", good.server_with_versions(&[&rustls::version::TLS12])),
            ("tls13.lab.test", good.server_with_versions(&[&rustls::version::TLS13])),
            ("client.lab.test", authority.server_with_client_auth(&good)),
        ];
        let stapled = authority.identity(&["*.staple.lab.test", "*.12.staple.lab.test"]);
        let mut stapling = HashMap::new();
        for (name, staple) in staples() {
            let old = stapled.server_with_staple(staple.clone(), &[&rustls::version::TLS12]);
            stapling.insert(format!("{name}.12.staple.lab.test"), old);
            let new = stapled.server_with_staple(staple, &[&rustls::version::TLS13]);
            stapling.insert(format!("{name}.staple.lab.test"), new);
        }
        let mut http2 = (*good.server()).clone();
        http2.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Self {
            client: authority.identity(&["client"]),
            stranger: other.identity(&["stranger"]),
            authority,
            configs: configs.into_iter().collect(),
            http2: Arc::new(http2),
            staples: stapling,
        })
    }

    /// A configuration with which nothing is wrong.
    pub(crate) fn good(&self) -> Arc<ServerConfig> {
        self.configs["good.lab.test"].clone()
    }

    /// What clients shall trust.
    pub(crate) fn authority_pem(&self) -> &str {
        self.authority.pem()
    }

    /// Certificates for scripts.
    pub(crate) fn variables(&self) -> Map<String, Value> {
        let texts = [
            ("CLIENT_CERT", &self.client.cert_pem),
            ("CLIENT_KEY", &self.client.key_pem),
            ("STRANGER_CERT", &self.stranger.cert_pem),
            ("STRANGER_KEY", &self.stranger.key_pem),
        ];
        texts.into_iter().map(|(name, text)| (name.to_owned(), Value::from(text.as_str()))).collect()
    }

    /// Serves one connection.
    pub(crate) fn serve(&self, mut stream: TcpStream) -> Result<()> {
        let mut acceptor = Acceptor::default();
        let accepted = loop {
            if acceptor.read_tls(&mut stream)? == 0 {
                return Ok(());
            }
            match acceptor.accept() {
                Ok(Some(accepted)) => break accepted,
                Ok(None) => {}
                Err((error, mut alert)) => {
                    alert.write_all(&mut stream)?;
                    return Err(Error::other(error));
                }
            }
        };
        let name = accepted.client_hello().server_name().unwrap_or("good.lab.test").to_ascii_lowercase();
        match name.as_str() {
            // Records that are none, a fatal alert (handshake failure, protocol version), an end, a reset.
            "records.lab.test" => return stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
            "alert.lab.test" => return stream.write_all(&[0x15, 3, 3, 0, 2, 2, 40]),
            "old.lab.test" => return stream.write_all(&[0x15, 3, 1, 0, 2, 2, 70]),
            "close.lab.test" => return Ok(()),
            "reset.lab.test" => return plain::reset(&stream),
            "silent.lab.test" => return stream.read(&mut [0]).map(|_| ()),
            _ => {}
        }
        let is_http2 = name.ends_with(".h2.lab.test");
        let config = if is_http2 { Some(&self.http2) } else { self.configs.get(name.as_str()) };
        let config = config.or_else(|| self.staples.get(&name));
        let config =
            config.or_else(|| self.configs.get("good.lab.test")).ok_or_else(|| Error::other("no such name"))?;
        let connection = match accepted.into_connection(Arc::clone(config)) {
            Ok(connection) => connection,
            Err((error, mut alert)) => {
                alert.write_all(&mut stream)?;
                return Err(Error::other(error));
            }
        };
        let mut stream = StreamOwned::new(connection, stream);
        let end = if is_http2 { http2::serve(&mut stream, &name) } else { answer(&mut stream) };
        if is_http2 && end.is_ok() {
            // What has not been read would make a reset of the end.
            stream.conn.send_close_notify();
            stream.flush()?;
            stream.sock.shutdown(Shutdown::Write)?;
            std::io::copy(&mut stream.sock, &mut std::io::sink())?;
        }
        end
    }
}

type Tls = StreamOwned<ServerConnection, TcpStream>;

/// Answers requests with what the handshake agreed on; the path says what goes wrong after it.
fn answer(stream: &mut Tls) -> Result<()> {
    while let Some(head) = plain::read_head(stream)? {
        let connection = &stream.conn;
        let body = format!(
            r#"{{"version":"{:?}","suite":"{:?}","client":{}}}"#,
            connection.protocol_version(),
            connection.negotiated_cipher_suite().map(|suite| suite.suite()),
            connection.peer_certificates().is_some()
        );
        match plain::request_line(&head).1.as_str() {
            // Half of the answer, then no `close_notify`, a reset, or a record that nobody has encrypted.
            "/cut" => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhi")?;
                return stream.flush();
            }
            "/hang" => return std::io::copy(stream, &mut std::io::sink()).map(|_| ()),
            "/bad-gzip" => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope")?;
                stream.flush()?;
            }
            "/reset" => return plain::reset(&stream.sock),
            "/record" => {
                stream.sock.write_all(&[0x17, 3, 3, 0, 32])?;
                stream.sock.write_all(&[7; 32])?;
                std::thread::sleep(Duration::from_millis(100));
                return Ok(());
            }
            _ => {
                write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())?;
                stream.flush()?;
            }
        }
    }
    Ok(())
}
