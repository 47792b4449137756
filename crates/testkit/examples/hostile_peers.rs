//! Starts every hostile peer (and a TLS server with a good, an expired and a misnamed certificate) and prints where
//! they listen, as JSON, until its standard input ends: for looking at what another client does with them.

use std::time::Duration;

use onrush_testkit::{Behaviour, CertificateAuthority, End, GoodServer, HostileServer, Reply, serve_until_input_ends};

fn main() -> anyhow::Result<()> {
    let head = "HTTP/1.1 200 OK\r\n";
    let say = |text: &str, end: End| Behaviour::Say(format!("{head}{text}").into_bytes(), end);
    let slow = Duration::from_millis(100);
    let plain = [
        ("hang", Behaviour::Hang),
        ("close_at_once", Behaviour::CloseAtOnce),
        ("reset_at_once", Behaviour::ResetAtOnce),
        ("reset_after_request", Behaviour::Say(Vec::new(), End::Reset)),
        ("close_in_head", say("Content-Le", End::Close)),
        ("reset_in_head", say("Content-Le", End::Reset)),
        ("reset_between_fields", say("Content-Length: 5\r\n", End::Reset)),
        ("reset_in_status", Behaviour::Say(b"HTTP/1.1 200".to_vec(), End::Reset)),
        ("close_in_body", say("Content-Length: 50\r\n\r\nhello", End::Close)),
        ("reset_in_body", say("Content-Length: 50\r\n\r\nhello", End::Reset)),
        ("hang_in_head", say("Content-Length: 50\r\n", End::Hang)),
        ("hang_in_body", say("Content-Length: 50\r\n\r\nhello", End::Hang)),
        ("slow_head", Behaviour::SlowHead { every: slow }),
        ("slow_body", Behaviour::SlowBody { every: slow }),
        ("endless_head", Behaviour::EndlessHead),
        ("endless_head_line", Behaviour::EndlessHeaderLine),
        ("endless_interim", Behaviour::EndlessInterim),
        ("endless_chunks", Behaviour::EndlessChunks),
        ("endless_body", Behaviour::EndlessBody),
        ("endless_chunk_extension", Behaviour::EndlessChunkExtension),
        ("endless_trailer", Behaviour::EndlessTrailer),
        ("huge_header", Behaviour::HugeHeader(12 << 20)),
        ("close_kept_alive", Behaviour::CloseKeptAlive),
        ("reset_kept_alive", Behaviour::ResetKeptAlive),
        ("close_idle", Behaviour::CloseIdle),
        ("unasked_response", Behaviour::UnaskedResponse),
        ("answer_early", Behaviour::AnswerEarly),
    ];
    let tls = [
        ("tls_plain_text", Behaviour::TlsPlainText),
        ("tls_garbage", Behaviour::TlsGarbage),
        ("tls_silence", Behaviour::TlsSilence),
        ("tls_half_record", Behaviour::TlsHalfRecord),
        ("tls_alert", Behaviour::TlsAlert),
        ("tls_close", Behaviour::TlsClose),
    ];
    let mut urls = serde_json::Map::new();
    let mut servers = Vec::new();
    for (name, behaviour) in plain {
        let server = HostileServer::start(behaviour);
        urls.insert(name.to_owned(), server.url("/").into());
        servers.push(server);
    }
    for (name, behaviour) in tls {
        let server = HostileServer::start(behaviour);
        urls.insert(name.to_owned(), server.https_url("/").into());
        servers.push(server);
    }
    let authority = CertificateAuthority::new();
    let identities = [
        ("tls_unknown_authority", authority.identity(&["127.0.0.1"])),
        ("tls_expired", authority.expired_identity(&["127.0.0.1"])),
        ("tls_other_name", authority.identity(&["other.test"])),
    ];
    let mut good = Vec::new();
    for (name, identity) in identities {
        let server = GoodServer::start_tls(identity.server(), |_| Reply::text("hi"));
        urls.insert(name.to_owned(), server.url("/").into());
        good.push(server);
    }
    let wants_client = authority.server_with_client_auth(&authority.identity(&["127.0.0.1"]));
    let server = GoodServer::start_tls(wants_client, |_| Reply::text("hi"));
    urls.insert("tls_wants_client_certificate".to_owned(), server.url("/").into());
    urls.insert("authority".to_owned(), authority.pem().into());
    Ok(serve_until_input_ends(&urls.into())?)
}
