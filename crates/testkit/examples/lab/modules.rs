//! A server of modules: the files of `conformance/files/remote`, in which `{MODULES}` stands for the server itself, and
//! paths in front of them that say how a file is served.
//!
//! - `/redirect/FILE`, `/moved/FILE`: a relative and an absolute redirect to it
//! - `/gzip/FILE`: compressed
//! - `/marked/FILE`, `/unmarked/FILE`: only with and only without `_k6=1` in the query
//! - `/private/FILE`: only for `user:pass`
//! - `/status/CODE`: nothing but this status
//! - `/query.js`: a module that exports the query it was asked with

use std::{
    io::Write as _,
    path::Path,
    sync::{Arc, OnceLock},
};

use onrush_testkit::{GoodServer, Incoming, Reply};
use rustls::ServerConfig;

const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/files/remote");

/// Starts the server. It stops when it is dropped.
pub(crate) fn start(config: Arc<ServerConfig>) -> GoodServer {
    let own: Arc<OnceLock<String>> = Arc::default();
    let url = Arc::clone(&own);
    let server = GoodServer::start_tls(config, move |request| {
        let url = url.get().map_or("", String::as_str);
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        reply(request, path, query, url)
    });
    // Nobody knows the address yet, so nobody has asked.
    let _ = own.set(server.url(""));
    server
}

fn reply(request: &Incoming, path: &str, query: &str, own: &str) -> Reply {
    let marked = query.split('&').any(|part| part == "_k6=1");
    if path == "/query.js" {
        return Reply::text(format!("export const query = '{query}'; export const state = {{ calls: 0 }};"));
    }
    let Some((how, rest)) = path[1..].split_once('/') else { return file(path, own) };
    match how {
        "redirect" => Reply::redirect(302, &format!("/{rest}")),
        "moved" => Reply::redirect(308, &format!("{own}/{rest}")),
        "status" => Reply::status(rest.parse().unwrap_or(500)),
        "marked" if !marked => Reply::status(404),
        "unmarked" if marked => Reply::status(500),
        // "user:pass"
        "private" if request.header("Authorization") != Some("Basic dXNlcjpwYXNz") => Reply::status(401),
        "marked" | "unmarked" | "private" => file(&format!("/{rest}"), own),
        "gzip" => {
            let plain = file(&format!("/{rest}"), own);
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            match encoder.write_all(&plain.body).and_then(|()| encoder.finish()) {
                Ok(body) => Reply { body, ..plain }.header("Content-Encoding", "gzip"),
                Err(_) => Reply::status(500),
            }
        }
        _ => file(path, own),
    }
}

fn file(path: &str, own: &str) -> Reply {
    // The lab's own scripts ask, but a path out of the folder would be no test.
    if path.split('/').any(|part| part == "..") {
        return Reply::status(404);
    }
    match std::fs::read_to_string(Path::new(FILES).join(&path[1..])) {
        Ok(text) => Reply::text(text.replace("{MODULES}", own)),
        Err(_) => Reply::status(404),
    }
}
