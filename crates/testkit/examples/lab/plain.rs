//! HTTP/1.1 without TLS: the first part of the path says what goes wrong.

use std::{
    io::{Error, ErrorKind, Read, Result, Write},
    net::{Shutdown, TcpStream},
    time::Duration,
};

use crate::names::{self, Names};

/// Serves one connection.
pub(crate) fn serve(mut stream: TcpStream, names: &Names) -> Result<()> {
    let mut count = 0;
    let mut first = [0];
    stream.peek(&mut first)?;
    if !first[0].is_ascii_uppercase() {
        return stream.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
    }
    loop {
        let Some(head) = read_head(&mut stream)? else { return Ok(()) };
        let (method, path) = request_line(&head);
        let body_bytes = announced(&head);
        count += 1;
        if path.starts_with("/early") {
            stream
                .write_all(b"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbig!")?;
            stream.shutdown(Shutdown::Write)?;
            return discard(&mut stream, u64::MAX);
        }
        if path.starts_with("/reset-upload") {
            return reset(&stream);
        }
        if has(&head, "expect: 100-continue") {
            stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        discard(&mut stream, body_bytes)?;
        match path.as_str() {
            "/ok" | "/continue" => ok(&mut stream, &format!("{method} {count} {body_bytes}"))?,
            // How it was asked for, as far as clients agree on it.
            "/head" => ok(&mut stream, &fields(&head))?,
            "/second" if count == 1 => ok(&mut stream, &format!("{method} {count}"))?,
            // The connection is kept, and closed before it is asked again.
            "/idle" => {
                ok(&mut stream, &format!("{method} {count}"))?;
                std::thread::sleep(MOMENT);
                return Ok(());
            }
            "/interim" => {
                stream.write_all(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n")?;
                ok(&mut stream, "after hints")?;
            }
            "/trailers" => stream.write_all(
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-End\r\n\r\n2\r\nhi\r\n0\r\nX-End: yes\r\n\r\n",
            )?,
            "/no-content" => stream.write_all(b"HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n")?,
            "/not-modified" => stream.write_all(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n")?,
            "/no-reason" => stream.write_all(b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nhi")?,
            "/own-reason" => stream.write_all(b"HTTP/1.1 299 Quite Fine\r\nContent-Length: 2\r\n\r\nhi")?,
            "/twice" => stream.write_all(
                b"HTTP/1.1 200 OK\r\nx-lower: 1\r\nX-Twice: a\r\nx-twice: b\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 2\r\n\r\nhi",
            )?,
            "/reset" => return reset(&stream),
            "/reset-body" => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhi")?;
                std::thread::sleep(MOMENT);
                return reset(&stream);
            }
            // A slow first byte and a slow rest, for the timings.
            "/slow" => {
                std::thread::sleep(SLOW);
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhi")?;
                std::thread::sleep(SLOW);
                stream.write_all(b"ho")?;
            }
            path if path.starts_with("/asked/") => names::tell(&mut stream, names, path)?,
            "/hang-head" => return discard(&mut stream, u64::MAX),
            "/hang-empty" => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")?;
                return discard(&mut stream, u64::MAX);
            }
            "/hang-body" => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhi")?;
                return discard(&mut stream, u64::MAX);
            }
            // These say something and close.
            _ => return stream.write_all(last_words(&path)),
        }
    }
}

/// What is answered before the connection is closed; nothing to what is unknown.
fn last_words(path: &str) -> &'static [u8] {
    match path {
        "/garbage" => b"hello\r\n\r\n",
        "/status-line" => b"HTTP/1.1 abc OK\r\n\r\n",
        "/version" => b"HTTP/9 200 OK\r\n\r\n",
        "/half-head" => b"HTTP/1.1 200 OK\r\nContent-Le",
        "/header" => b"HTTP/1.1 200 OK\r\nno colon here\r\nContent-Length: 2\r\n\r\nhi",
        "/length" => b"HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\nhi",
        "/lengths" => b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi!",
        "/coding" => b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nhi",
        "/truncated" => b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhi",
        "/chunk" => b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nhi\r\n0\r\n\r\n",
        "/half-chunk" => b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nhi",
        "/old" => b"HTTP/1.0 200 OK\r\n\r\nuntil the end",
        "/switching" => b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
        "/bad-gzip" => b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope",
        "/unknown-coding" => b"HTTP/1.1 200 OK\r\nContent-Encoding: rot13\r\nContent-Length: 4\r\n\r\nabpq",
        "/location" => b"HTTP/1.1 302 Found\r\nLocation: http://[::1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        "/no-location" => b"HTTP/1.1 302 Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi",
        "/to-nowhere" => {
            b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        }
        "/to-ftp" => {
            b"HTTP/1.1 302 Found\r\nLocation: ftp://127.0.0.1/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        }
        _ => b"",
    }
}

fn ok(stream: &mut TcpStream, body: &str) -> Result<()> {
    stream.write_all(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).as_bytes())
}

/// Drops the connection with a reset.
pub(crate) fn reset(stream: &TcpStream) -> Result<()> {
    rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO))?;
    Ok(())
}

/// Reads a head; `None` where the connection ends before it.
pub(crate) fn read_head(stream: &mut impl Read) -> Result<Option<String>> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() > HEAD_BYTES_MAX {
            return Err(Error::new(ErrorKind::InvalidData, "the head is too long"));
        }
        if stream.read(&mut byte)? == 0 {
            return Ok(None);
        }
        head.push(byte[0]);
    }
    Ok(Some(String::from_utf8_lossy(&head).into_owned()))
}

/// The method and the path without its query.
pub(crate) fn request_line(head: &str) -> (String, String) {
    let mut words = head.split(' ');
    let method = words.next().unwrap_or_default().to_owned();
    let path = words.next().unwrap_or_default();
    // What a proxy forwards has the whole URL.
    let path = path.strip_prefix("http://").and_then(|rest| rest.find('/').map(|at| &rest[at..])).unwrap_or(path);
    (method, path.split('?').next().unwrap_or_default().to_owned())
}

/// The request line's target and the fields that say where a request is to go, in the order of names.
fn fields(head: &str) -> String {
    let target = head.split(' ').nth(1).unwrap_or_default();
    let mut lines: Vec<&str> = head
        .lines()
        .skip(1)
        .filter(|line| {
            let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
            name == "host" || name.starts_with("proxy-") || name == "x-forwarded" || name == "authorization"
        })
        .collect();
    lines.sort_unstable();
    format!("{target} {}", lines.join(", "))
}

fn announced(head: &str) -> u64 {
    let value =
        head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:").map(str::to_owned));
    value.and_then(|value| value.trim().parse().ok()).unwrap_or(0)
}

fn has(head: &str, line: &str) -> bool {
    head.lines().any(|of_head| of_head.eq_ignore_ascii_case(line))
}

fn discard(stream: &mut TcpStream, bytes: u64) -> Result<()> {
    std::io::copy(&mut stream.take(bytes), &mut std::io::sink()).map(|_| ())
}

const HEAD_BYTES_MAX: usize = 64 << 10;
/// Long enough for a client on the same machine to have read what was sent.
const MOMENT: Duration = Duration::from_millis(30);
/// Long beside everything else that takes time here.
const SLOW: Duration = Duration::from_millis(150);
