//! The flows of k6's three hardware-benchmark scripts.

use std::io::Write;

use crate::client::{Client, Response, connect, get, target, target_with};

/// One iteration of the website script; returns the last page.
fn browse(client: &mut Client, user: &str, password: &str) -> Response {
    let front = client.get("/?ts=1234");
    assert_eq!((front.status, front.body.len()), (200, 11_278));
    assert!(front.text().contains("Welcome to the k6.io demo site!"));

    let form = "Content-Type: application/x-www-form-urlencoded";
    let style = client.request("GET", "/static/css/site.css", form, b"");
    assert_eq!((style.status, style.body.len()), (200, 4_859));
    let script = client.request("GET", "/static/js/prisms.js", form, b"");
    assert_eq!(script.status, 200);

    let messages = client.get("/my_messages.php");
    assert!(messages.text().contains("Unauthorized"));
    let token = messages.cookie("csrf").unwrap().to_owned();

    let body = format!("login={user}&password={password}&csrftoken={token}&redir=1");
    let headers = format!("{form}\nCookie: csrf={token}");
    let login = client.request("POST", "/login.php", &headers, body.as_bytes());
    assert_eq!((login.status, login.header("location")), (302, Some("/my_messages.php")));

    let mut cookie = format!("Cookie: csrf={token}");
    if let Some(uid) = login.cookie("uid").filter(|uid| !uid.is_empty()) {
        cookie.push_str(&format!("; uid={uid}"));
    }
    client.request("GET", "/my_messages.php", &cookie, b"")
}

#[test]
fn only_admin_is_welcome() {
    let target = target();
    let mut client = connect(target.addr);
    let page = browse(&mut client, "admin", "123");
    assert!(page.text().contains("Welcome, admin!"));
    assert!(!page.text().contains("Unauthorized"));
    for (user, password) in [("admin", "1234"), ("test_user", "123"), ("", "")] {
        let page = browse(&mut client, user, password);
        assert!(page.text().contains("Unauthorized"));
        assert!(!page.text().contains("Welcome, admin!"));
    }
    assert_eq!(target.connections_open(), 1);
}

#[test]
fn any_thread_knows_a_login() {
    let target = target_with(|options| options.threads = 3);
    let mut client = connect(target.addr);
    let token = client.get("/my_messages.php").cookie("csrf").unwrap().to_owned();
    let body = format!("login=admin&password=123&csrftoken={token}");
    let headers = format!("Cookie: csrf={token}");
    let login = client.request("POST", "/login.php", &headers, body.as_bytes());
    assert_eq!(login.status, 200);
    let uid = login.cookie("uid").unwrap();
    for _ in 0..20 {
        let cookie = format!("Cookie: a=b; uid={uid}; c=d");
        let page = connect(target.addr).request("GET", "/my_messages.php", &cookie, b"");
        assert!(page.text().contains("Welcome, admin!"));
    }
}

#[test]
fn logins_cannot_be_forged() {
    let target = target();
    let mut client = connect(target.addr);
    let long = "0".repeat(32);
    for uid in ["", "admin", "0", &long, "+000000000000000+000000000000000", "ä".repeat(16).as_str()] {
        let cookie = format!("Cookie: uid={uid}");
        let page = client.request("GET", "/my_messages.php", &cookie, b"");
        assert!(page.text().contains("Unauthorized"), "{uid}");
    }
    let token = client.get("/my_messages.php").cookie("csrf").unwrap().to_owned();
    for (cookie, field) in [("", token.as_str()), (token.as_str(), ""), (token.as_str(), &long), ("", "")] {
        let body = format!("login=admin&password=123&csrftoken={field}&redir=1");
        let headers = format!("Cookie: csrf={cookie}");
        let login = client.request("POST", "/login.php", &headers, body.as_bytes());
        assert_eq!(login.status, 403);
    }
}

#[test]
fn a_csrf_token_is_kept() {
    let target = target();
    let mut client = connect(target.addr);
    let first = client.get("/my_messages.php").cookie("csrf").unwrap().to_owned();
    let other = client.get("/my_messages.php").cookie("csrf").unwrap().to_owned();
    assert_ne!(first, other);
    let cookie = format!("Cookie: csrf={first}");
    let again = client.request("GET", "/my_messages.php", &cookie, b"");
    assert_eq!(again.cookie("csrf"), Some(first.as_str()));
    let odd = client.request("GET", "/my_messages.php", "Cookie: csrf=<script>", b"");
    assert_ne!(odd.cookie("csrf"), Some("<script>"));
}

#[test]
fn the_logo_is_there() {
    let logo = get(&target(), "/static/logo.svg");
    assert_eq!((logo.status, logo.header("content-type")), (200, Some("image/svg+xml")));
}

#[test]
fn small_pages() {
    let target = target();
    let mut client = connect(target.addr);
    for path in ["/contacts.php", "/news.php", "/flip_coin.php", "/flip_coin.php?bet=heads"] {
        assert_eq!(client.get(path).status, 200);
    }
    assert!(client.get("/pi.php?decimals=4").text().contains("3.1415<"));
    for bad in ["/pi.php?decimals=51", "/pi.php?decimals=-1", "/pi.php?decimals=x"] {
        assert_eq!(client.get(bad).status, 400);
    }
}

/// The size of the upload script's file.
const FILE_BYTES: usize = 26 * 1024 * 1024;

#[test]
fn uploads_of_26_megabytes() {
    let target = target();
    let mut client = connect(target.addr);
    let start = b"--frontier\r\nContent-Disposition: form-data; name=\"file\"; filename=\"26MB.zip\"\r\n\
                  Content-Type: application/zip\r\n\r\n";
    let end = b"\r\n--frontier--\r\n";
    let piece: Vec<u8> = (0..1024 * 1024_u32).map(|index| (index * 7 + index / 251) as u8).collect();
    for path in ["/my_messages.php", "/post", "/upload"] {
        let length = start.len() + FILE_BYTES + end.len();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\
             Content-Type: multipart/form-data; boundary=frontier\r\n\r\n"
        );
        client.send(head.as_bytes());
        client.send(start);
        for _ in 0..FILE_BYTES / piece.len() {
            client.stream.write_all(&piece).unwrap();
        }
        client.send(end);
        let response = client.response();
        assert_eq!(response.status, 200);
        match path {
            "/upload" => assert_eq!(response.json()["received"], length),
            "/post" => {
                let file = &response.json()["files"]["file"];
                assert_eq!((&file["filename"], &file["size"]), (&"26MB.zip".into(), &FILE_BYTES.into()));
            }
            _ => assert!(response.text().contains(&format!("1 file(s), {FILE_BYTES} bytes"))),
        }
    }
}
