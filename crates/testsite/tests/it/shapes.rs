//! Answers of a chosen shape: interim responses, trailers, codings, pages.

use std::io::Read;

use crate::client::{connect, get, target};

#[test]
fn interim_responses_come_first() {
    let target = target();
    let mut client = connect(target.addr);
    let path = "/respond?interim=100&interim=103&hint=Link:%20%3C/a%3E&status=201&body=done&header=X-A:%20b";
    client.send(format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes());
    assert_eq!(client.head_only().status, 100);
    let early = client.head_only();
    assert_eq!((early.status, early.header("link")), (103, Some("</a>")));
    let last = client.response();
    assert_eq!((last.status, last.header("x-a"), last.text()), (201, Some("b"), "done"));
    for bad in ["interim=101", "interim=200", "status=99", "header=none", "header=Content-Length:9", "bytes=9999999"] {
        assert_eq!(client.get(&format!("/respond?{bad}")).status, 400, "{bad}");
    }
}

#[test]
fn trailers_and_chunks() {
    let target = target();
    let mut client = connect(target.addr);
    client.send(b"GET /respond?body=hello&chunk_size=2&trailer=X-T:1&trailer=X-U:2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    let head = client.head_only();
    assert_eq!(head.header("transfer-encoding"), Some("chunked"));
    assert!(head.header("content-length").is_none());
    let mut rest = client.text().into_bytes();
    client.stream.read_to_end(&mut rest).unwrap();
    assert_eq!(String::from_utf8(rest).unwrap(), "2\r\nhe\r\n2\r\nll\r\n1\r\no\r\n0\r\nX-T: 1\r\nX-U: 2\r\n\r\n");
}

#[test]
fn codings_on_top_of_each_other() {
    let target = target();
    let mut client = connect(target.addr);
    let plain = client.get("/encoded/identity/5000");
    assert_eq!((plain.body.len(), plain.header("content-encoding")), (5000, Some("identity")));
    for _ in 0..2 {
        // The second answer is the kept one.
        let twice = client.get("/encoded/gzip,br/5000");
        assert_eq!(twice.header("content-encoding"), Some("gzip, br"));
        let mut gzip = Vec::new();
        brotli::Decompressor::new(twice.body.as_slice(), 4096).read_to_end(&mut gzip).unwrap();
        let mut body = Vec::new();
        flate2::read::GzDecoder::new(gzip.as_slice()).read_to_end(&mut body).unwrap();
        assert_eq!(body, plain.body);
        assert!(twice.body.len() < 2500);
    }
    assert_eq!(client.get("/encoded/gzip/10?label=br").header("content-encoding"), Some("br"));
    assert!(client.get("/encoded/zstd/1000000?zeros").body.len() < 1000);
    for bad in ["/encoded/lzw/1", "/encoded/gzip/x", "/encoded/gzip/99999999", "/encoded/br,br,br,br,br,br,br,br,br/1"]
    {
        assert_eq!(client.get(bad).status, 400, "{bad}");
    }
}

#[test]
fn cookies_and_redirects_of_every_kind() {
    let target = target();
    let mut client = connect(target.addr);
    let raw = client.get("/cookies/raw?set=a%3D1;%20HttpOnly;%20SameSite=Lax&set=b&location=/cookies");
    let lines: Vec<_> =
        raw.headers.iter().filter(|(name, _)| name == "set-cookie").map(|(_, line)| line.as_str()).collect();
    assert_eq!((raw.status, lines), (302, vec!["a=1; HttpOnly; SameSite=Lax", "b"]));
    let many = client.get("/cookies/many/300?bytes=20");
    assert_eq!(many.headers.iter().filter(|(name, _)| name == "set-cookie").count(), 300);
    let hop = client.get("/redirect/2?status_code=308");
    assert_eq!((hop.status, hop.header("location")), (308, Some("/relative-redirect/1?status_code=308")));
    assert_eq!(client.get("/redirect-loop").header("location"), Some("/redirect-loop"));
    let other = client.get("/redirect-to?url=//else.example/x&status_code=304");
    assert_eq!((other.status, other.header("location")), (304, Some("//else.example/x")));
}

#[test]
fn connections_know_how_often_they_were_used() {
    let target = target();
    let mut client = connect(target.addr);
    let first = client.get("/connection").json();
    let second = client.get("/connection").json();
    assert_eq!((&first["requests"], &second["requests"]), (&1.into(), &2.into()));
    assert_eq!((&first["number"], &first["tls"]), (&second["number"], &false.into()));
    assert_ne!(get(&target, "/connection").json()["number"], first["number"]);
}

#[test]
fn pages_are_there_and_lists_are_complete() {
    let target = target();
    for name in ["forms", "links", "base", "tables", "broken"] {
        assert_eq!(get(&target, &format!("/pages/{name}")).status, 200, "{name}");
    }
    assert_eq!(get(&target, "/endpoints").text(), onrush_testsite::ENDPOINTS);
    let page = include_str!("../../../../docs/guide/target.md");
    assert!(page.contains(onrush_testsite::ENDPOINTS), "docs/guide/target.md has the list of crates/testsite/assets");
    // What the list names by its whole path is there.
    for word in onrush_testsite::ENDPOINTS
        .split_whitespace()
        .filter(|word| word.starts_with('/') && !word.starts_with("/fault"))
    {
        let plain = word.split('?').next().unwrap();
        if plain.chars().all(|letter| letter.is_ascii_lowercase() || "/-.".contains(letter)) {
            assert_ne!(get(&target, plain).status, 404, "{plain}");
        }
    }
}
