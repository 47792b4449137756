//! What the endpoints answer.

use std::io::Read;

use serde_json::{Value, json};

use crate::client::{Response, connect, get, target};

#[test]
fn echoes() {
    let target = target();
    let mut client = connect(target.addr);
    let echo = client.request("GET", "/get?b=2&a=1&b=3&c=%26+x", "x-one: 1\nX-ONE: 2", b"").json();
    assert_eq!(echo["args"], json!({"a": "1", "b": ["2", "3"], "c": "& x"}));
    assert_eq!(echo["headers"], json!({"Host": "test.example", "X-One": "1,2"}));
    assert_eq!(echo["url"], "http://test.example/get?b=2&a=1&b=3&c=%26+x");
    assert_eq!(echo["origin"], "127.0.0.1");

    let body = br#"{"k": [1, {"z": "\u00e4"}]}"#;
    let echo = client.request("POST", "/post", "Content-Type: application/json", body).json();
    assert_eq!(echo["json"], json!({"k": [1, {"z": "ä"}]}));
    assert_eq!(echo["data"], String::from_utf8_lossy(body).into_owned());

    let form = "Content-Type: application/x-www-form-urlencoded; charset=utf-8";
    let echo = client.request("PUT", "/put", form, b"a=b+c&d=%C3%A4&a=").json();
    assert_eq!(echo["form"], json!({"a": ["b c", ""], "d": "ä"}));
    assert_eq!((&echo["data"], &echo["json"]), (&"".into(), &Value::Null));

    let multipart = "Content-Type: multipart/form-data; boundary=\"B\"";
    let body = b"--B\r\nContent-Disposition: form-data; name=\"t\"\r\n\r\ntext\r\n\
                 --B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"n.txt\"\r\n\r\n12345\r\n--B--\r\n";
    let echo = client.request("PATCH", "/patch", multipart, body).json();
    assert_eq!(echo["form"], json!({"t": "text"}));
    assert_eq!(echo["files"], json!({"f": {"filename": "n.txt", "content_type": "text/plain", "size": 5}}));

    let echo = client.request("DELETE", "/delete", "", b"\xff\x00").json();
    assert_eq!(echo["data"], "data:application/octet-stream;base64,/wA=");
    assert_eq!(client.request("DELETE", "/anything/a/b", "", b"").json()["method"], "DELETE");

    let broken = client.request("POST", "/post", multipart, b"--B\r\nno end").status;
    assert_eq!(broken, 400);
}

#[test]
fn large_bodies_are_echoed_in_part() {
    let target = target();
    let body = vec![b'a'; 3 * 1024 * 1024];
    let echo = connect(target.addr).request("POST", "/post", "", &body).json();
    assert_eq!(echo["truncated"], true);
    assert_eq!(echo["data"].as_str().unwrap().len(), 1024 * 1024);
}

#[test]
fn json_nested_too_deeply_is_only_data() {
    let target = target();
    let body = "[".repeat(100_000);
    let echo = connect(target.addr).request("POST", "/post", "", body.as_bytes()).json();
    assert_eq!(echo["json"], Value::Null);
}

#[test]
fn statuses() {
    let target = target();
    let mut client = connect(target.addr);
    for status in [200, 204, 299, 301, 304, 400, 401, 418, 429, 500, 503, 599] {
        assert_eq!(client.get(&format!("/status/{status}")).status, status);
    }
    for _ in 0..20 {
        assert!(matches!(client.get("/status/200,500:3").status, 200 | 500));
    }
    for bad in ["/status/100", "/status/600", "/status/", "/status/x", "/status/200,"] {
        assert_eq!(client.get(bad).status, 400, "{bad}");
    }
    assert_eq!(client.get("/status/302").header("location"), Some("/redirect/1"));
}

#[test]
fn bodies_of_any_size() {
    let target = target();
    let mut client = connect(target.addr);
    for size in [0, 1, 100, 65_536, 65_537, 1_048_577, 5_000_000] {
        assert_eq!(client.get(&format!("/f/{size}")).body, vec![b'x'; size]);
        let one = client.get(&format!("/bytes/{size}?seed=4")).body;
        assert_eq!(one.len(), size);
        assert_eq!(client.get(&format!("/stream-bytes/{size}?seed=4&chunk_size=65536")).body, one);
    }
    for bad in ["/f/x", "/f/", "/bytes/-1", "/bytes/9999999999999", "/bytes/1?seed=x", "/f/1/2"] {
        assert_eq!(client.get(bad).status, 400, "{bad}");
    }
    assert_eq!(client.get("/stream-bytes/5?chunk_size=0").status, 400);
}

#[test]
fn chunks_have_the_size_that_was_asked_for() {
    let target = target();
    let mut client = connect(target.addr);
    client.send(b"GET /stream-bytes/10?chunk_size=4 HTTP/1.1\r\nHost: a\r\n\r\n");
    client.head_only();
    let sizes: Vec<usize> = (0..4).map(|_| client.chunk().len()).collect();
    assert_eq!(sizes, [4, 4, 2, 0]);
}

#[test]
fn cookies() {
    let target = target();
    let mut client = connect(target.addr);
    let shown = client.request("GET", "/cookies", "Cookie: a=1; b=2\nCookie: c=3", b"").json();
    assert_eq!(shown, json!({"cookies": {"a": "1", "b": "2", "c": "3"}}));
    let set = client.get("/cookies/set?a=1&b=2");
    assert_eq!((set.status, set.header("location")), (302, Some("/cookies")));
    assert_eq!((set.cookie("a"), set.cookie("b")), (Some("1"), Some("2")));
    assert_eq!(client.get("/cookies/set/name/va%2Flue").cookie("name"), Some("va/lue"));
    let gone = client.get("/cookies/delete?a");
    assert!(gone.header("set-cookie").unwrap().contains("Max-Age=0"));
    for bad in ["/cookies/set?a=b%0d%0aX:+y", "/cookies/set?a%3d=b", "/cookies/set/a/b;c"] {
        assert_eq!(client.get(bad).status, 400, "{bad}");
    }
}

#[test]
fn redirects() {
    let target = target();
    let mut client = connect(target.addr);
    let location = |response: Response| {
        assert_eq!(response.status, 302);
        response.header("location").unwrap().to_owned()
    };
    assert_eq!(location(client.get("/redirect/3")), "/relative-redirect/2");
    assert_eq!(location(client.get("/relative-redirect/1")), "/get");
    let absolute = "http://test.example/absolute-redirect/1";
    assert_eq!(location(client.get("/absolute-redirect/2")), absolute);
    assert_eq!(location(client.get("/redirect/2?absolute=true")), absolute);
    assert_eq!(location(client.get("/redirect-to?url=http%3A%2F%2Fx%2Fy")), "http://x/y");
    let moved = client.request("POST", "/redirect-to?url=/get&status_code=307", "", b"x");
    assert_eq!((moved.status, moved.header("location")), (307, Some("/get")));
    for bad in ["/redirect/0", "/redirect/1001", "/redirect-to", "/redirect-to?url=a&status_code=200"] {
        assert_eq!(client.get(bad).status, 400, "{bad}");
    }
    let split = client.get("/redirect-to?url=a%0d%0aSet-Cookie:%20b=c");
    assert_eq!((split.header("location"), split.header("set-cookie")), (Some("a??Set-Cookie: b=c"), None));
}

#[test]
fn compressed_answers_read_back() {
    let target = target();
    let mut client = connect(target.addr);
    for (path, coding, mark) in [
        ("/gzip", "gzip", "gzipped"),
        ("/deflate", "deflate", "deflated"),
        ("/brotli", "br", "brotli"),
        ("/zstd", "zstd", "zstd"),
    ] {
        let response = client.get(path);
        assert_eq!(response.header("content-encoding"), Some(coding));
        let mut plain = Vec::new();
        let packed = response.body.as_slice();
        match coding {
            "gzip" => flate2::read::GzDecoder::new(packed).read_to_end(&mut plain).unwrap(),
            "deflate" => flate2::read::ZlibDecoder::new(packed).read_to_end(&mut plain).unwrap(),
            "br" => brotli::Decompressor::new(packed, 4096).read_to_end(&mut plain).unwrap(),
            _ => zstd::Decoder::new(packed).unwrap().read_to_end(&mut plain).unwrap(),
        };
        let value: Value = serde_json::from_slice(&plain).unwrap();
        assert_eq!((&value[mark], &value["headers"]["Host"]), (&true.into(), &"test.example".into()));
    }
}

#[test]
fn credentials() {
    let target = target();
    let mut client = connect(target.addr);
    let denied = client.get("/basic-auth/user/pass%20word");
    assert_eq!((denied.status, denied.header("www-authenticate").is_some()), (401, true));
    let header = "Authorization: Basic dXNlcjpwYXNzIHdvcmQ=";
    let granted = client.request("GET", "/basic-auth/user/pass%20word", header, b"");
    assert_eq!(granted.json(), json!({"authenticated": true, "user": "user"}));
    assert_eq!(client.get("/hidden-basic-auth/user/p").status, 404);
    assert_eq!(client.request("GET", "/basic-auth/user/other", header, b"").status, 401);
    assert_eq!(client.request("GET", "/basic-auth/u/p", "Authorization: Basic %%%", b"").status, 401);
    assert_eq!(client.get("/bearer").status, 401);
    let granted = client.request("GET", "/bearer", "authorization: Bearer abc", b"");
    assert_eq!(granted.json()["token"], "abc");
}

#[test]
fn headers_and_caching() {
    let target = target();
    let mut client = connect(target.addr);
    assert_eq!(client.request("GET", "/user-agent", "User-Agent: me", b"").json()["user-agent"], "me");
    assert_eq!(client.get("/ip").json()["origin"], "127.0.0.1");
    let cached = client.get("/cache");
    assert!(cached.header("etag").is_some() && cached.header("last-modified").is_some());
    assert_eq!(client.request("GET", "/cache", "If-None-Match: x", b"").status, 304);
    assert_eq!(client.get("/cache/60").header("cache-control"), Some("public, max-age=60"));
    assert_eq!(client.get("/etag/abc").header("etag"), Some("\"abc\""));
    assert_eq!(client.request("GET", "/etag/abc", "If-None-Match: \"x\", W/\"abc\"", b"").status, 304);
    assert_eq!(client.request("GET", "/etag/abc", "If-Match: \"x\"", b"").status, 412);
    assert_eq!(client.request("GET", "/etag/abc", "If-Match: *", b"").status, 200);
    let chosen = client.get("/response-headers?X-A=1&X-A=2&Content-Type=text/plain");
    assert_eq!((chosen.header("x-a"), chosen.header("content-type")), (Some("1"), Some("text/plain")));
    for bad in ["Content-Length=1", "transfer-encoding=chunked", "a%20b=c", "=x", "a%0d%0ab=c"] {
        assert_eq!(client.get(&format!("/response-headers?{bad}")).status, 400, "{bad}");
    }
}

#[test]
fn samples() {
    let target = target();
    let mut client = connect(target.addr);
    assert_eq!(client.get("/json").json()["catalogue"]["products"][0]["name"], "spade");
    assert!(client.get("/html").text().contains("<h1>"));
    assert!(client.get("/xml").text().starts_with("<?xml"));
    assert!(client.get("/encoding/utf8").text().contains('𝄞'));
    let one = client.get("/uuid").json()["uuid"].as_str().unwrap().to_owned();
    let other = client.get("/uuid").json()["uuid"].as_str().unwrap().to_owned();
    assert_ne!(one, other);
    assert_eq!((one.len(), &one[14..15]), (36, "4"));
    assert!(matches!(&one[19..20], "8" | "9" | "a" | "b"));
}

#[test]
fn the_target_counts() {
    let target = target();
    let mut client = connect(target.addr);
    for path in ["/", "/f/10", "/f/10", "/get", "/nowhere", "/healthz"] {
        client.get(path);
    }
    let stats = client.get("/stats").json();
    assert_eq!(stats["requests"], 6);
    assert_eq!(
        stats["requests_by_class"],
        json!({"site": 1, "fixed": 2, "echo": 1, "bytes": 0, "upload": 0, "other": 2, "refused": 0})
    );
    assert_eq!(stats["responses_by_status"]["4xx"], 1);
    assert_eq!((&stats["connections"]["open"], &stats["connections"]["accepted"]), (&1.into(), &1.into()));
    assert_eq!(target.requests(), 7);
    assert_eq!(get(&target, "/healthz").body, b"ok\n");
}
