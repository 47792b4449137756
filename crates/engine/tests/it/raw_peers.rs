//! Hostile peers of `k6/x/dns` and `k6/x/tcp`: answers that are none, and connections that end or begin in odd ways. Each
//! spoils its own question or socket, and nothing else.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream, UdpSocket},
    time::Duration,
};

use crate::harness::case;

/// What is after the header and the question of an answer.
const GOOD: &[u8] = b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\x0a\x00\x00\x09";

/// An answer to `question`: flags, the count of answers it claims, and what follows the question.
fn answer(question: &[u8], flags: u16, count: u16, rest: &[u8]) -> Vec<u8> {
    let mut out = question[..2].to_vec();
    out.extend_from_slice(&flags.to_be_bytes());
    out.extend_from_slice(&[0, 1]);
    out.extend_from_slice(&count.to_be_bytes());
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&question[12..]);
    out.extend_from_slice(rest);
    out
}

const OK: u16 = 0x8180;
const CUT: u16 = 0x8380;

/// Names that are asked for, the datagrams that come back, and what the script gets: addresses, or the beginning of the error.
type Datagrams = fn(&[u8]) -> Vec<Vec<u8>>;
const ANSWERS: &[(&str, Datagrams, &str)] = &[
    ("good", |q| vec![answer(q, OK, 1, GOOD)], "10.0.0.9"),
    ("empty", |q| vec![vec![], answer(q, OK, 1, GOOD)], "10.0.0.9"),
    ("byte", |q| vec![vec![0], answer(q, OK, 1, GOOD)], "10.0.0.9"),
    ("header", |q| vec![q[..12].to_vec()], "querying"),
    ("claims", |q| vec![answer(q, OK, 65535, GOOD)], "querying"),
    (
        "loop",
        |q| vec![answer(q, OK, 1, b"\xc0\x1c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\x0a\x00\x00\x09")],
        "querying",
    ),
    (
        "forward",
        |q| vec![answer(q, OK, 1, b"\xff\xff\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\x0a\x00\x00\x09")],
        "querying",
    ),
    (
        "label",
        |q| vec![answer(q, OK, 1, b"\x7fabc\x00\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\x0a\x00\x00\x09")],
        "querying",
    ),
    (
        "long",
        |q| vec![answer(q, OK, 1, b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\xff\xff\x0a\x00\x00\x09")],
        "querying",
    ),
    ("short", |q| vec![answer(q, OK, 1, b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x03\x0a\x00\x00")], "querying"),
    ("query", |q| vec![answer(q, 0x0100, 1, GOOD)], "querying the DNS nameserver failed: the answer is a question"),
    ("code", |q| vec![answer(q, OK | 11, 0, b"")], "querying the DNS nameserver failed: response code 11"),
    (
        "other",
        |q| {
            let mut wrong = answer(q, OK, 1, GOOD);
            wrong[0] ^= 0xff;
            vec![wrong, answer(q, OK, 1, GOOD)]
        },
        "10.0.0.9",
    ),
    (
        "flood",
        |q| {
            let mut wrong = answer(q, OK, 1, GOOD);
            wrong[1] ^= 0xff;
            let mut all = vec![wrong; 50];
            all.push(answer(q, OK, 1, GOOD));
            all
        },
        "10.0.0.9",
    ),
    (
        "kinds",
        |q| vec![answer(q, OK, 2, &[b"\xc0\x0c\x00\x10\x00\x01\x00\x00\x00\x3c\x00\x02\xffa", GOOD].concat())],
        "querying",
    ),
    ("many", |q| vec![answer(q, OK, 200, &GOOD.repeat(200))], "10.0.0.9,10.0.0.9"),
    // Over TCP, where the name decides as well.
    ("tcpnone", |q| vec![answer(q, CUT, 0, b"")], "querying"),
    ("tcpshort", |q| vec![answer(q, CUT, 0, b"")], "querying"),
    ("tcpzero", |q| vec![answer(q, CUT, 0, b"")], "querying"),
    ("tcpjunk", |q| vec![answer(q, CUT, 0, b"")], "querying"),
    ("tcpgood", |q| vec![answer(q, CUT, 0, b"")], "10.0.0.9"),
];

/// The first label of the name a question is about.
fn asked(question: &[u8]) -> String {
    let length = usize::from(*question.get(12).unwrap_or(&0));
    String::from_utf8_lossy(question.get(13..13 + length).unwrap_or_default()).into_owned()
}

/// A nameserver over UDP and TCP on one port.
fn nameserver() -> String {
    let (udp, tcp) = loop {
        let udp = UdpSocket::bind(("127.0.0.1", 0)).expect("a free port");
        if let Ok(tcp) = TcpListener::bind(udp.local_addr().expect("it is bound")) {
            break (udp, tcp);
        }
    };
    let address = udp.local_addr().expect("it is bound").to_string();
    std::thread::spawn(move || {
        let mut question = [0; 4096];
        while let Ok((length, from)) = udp.recv_from(&mut question) {
            let question = &question[..length];
            let found = ANSWERS.iter().find(|(name, ..)| *name == asked(question));
            for datagram in found.map(|(_, datagrams, _)| datagrams(question)).unwrap_or_default() {
                let _ = udp.send_to(&datagram, from);
            }
        }
    });
    std::thread::spawn(move || {
        for stream in tcp.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut question = [0; 4096];
            let length = stream.read(&mut question).unwrap_or_default();
            let Some(question) = question.get(2..length) else { continue };
            let good = answer(question, OK, 1, GOOD);
            let _ = match asked(question).as_str() {
                "tcpshort" => stream.write_all(&[&[0xff, 0xff], &good[..]].concat()),
                "tcpzero" => stream.write_all(&[0, 0]),
                "tcpjunk" => stream.write_all(b"\x00\x05hello"),
                "tcpgood" => stream.write_all(&[&(good.len() as u16).to_be_bytes(), &good[..]].concat()),
                _ => Ok(()),
            };
        }
    });
    address
}

#[test]
fn answers_that_are_none() {
    let names: Vec<&str> = ANSWERS.iter().map(|(name, ..)| *name).collect();
    let script = format!(
        "import dns from 'k6/x/dns';
         export default async function () {{
           for (const name of '{}'.split(' ')) {{
             try {{ console.log(name, (await dns.resolve(`${{name}}.test`, 'A', __ENV.SERVER)).join()); }} catch (error) {{ console.log(name, error.message); }}
           }}
         }}",
        names.join(" ")
    );
    case(&script).env("SERVER", &nameserver()).both(|report| {
        report.assert_clean();
        assert_eq!(report.said().len(), ANSWERS.len(), "{report:#?}");
        for (said, (name, _, expect)) in report.said().iter().zip(ANSWERS) {
            let outcome = said.strip_prefix(name).and_then(|rest| rest.strip_prefix(' ')).unwrap_or_default();
            assert!(outcome.starts_with(expect), "{said} is not {expect}: {report:#?}");
            assert_eq!(outcome.starts_with("querying"), expect.starts_with("querying"), "{report:#?}");
        }
    });
}

/// What a server does with a connection, whether over TLS, and what the script sees of it: connected, read, closed or an error.
type Serve = fn(&mut TcpStream) -> std::io::Result<()>;
const PEERS: &[(&str, bool, Serve, &str)] = &[
    ("closes at once", false, |_| Ok(()), "connect close"),
    ("resets", false, reset, "connect error read close"),
    (
        "ends, and listens on",
        false,
        |stream| {
            stream.write_all(b"bye")?;
            stream.shutdown(Shutdown::Write)?;
            stream.read_to_end(&mut Vec::new()).map(drop)
        },
        "connect data 3 close",
    ),
    (
        "says something and resets",
        false,
        |stream| {
            stream.write_all(b"abc")?;
            std::thread::sleep(Duration::from_millis(100));
            reset(stream)
        },
        "connect data 3 error read close",
    ),
    (
        "a byte at a time",
        false,
        |stream| {
            stream.set_nodelay(true)?;
            (0..5).try_for_each(|_| {
                std::thread::sleep(Duration::from_millis(2));
                stream.write_all(b"x")
            })
        },
        "connect data 5 close",
    ),
    ("much, and the end", false, |stream| stream.write_all(&vec![0xff; 3 << 20]), "connect data 3145728 close"),
    ("no handshake", true, |_| Ok(()), "error connect"),
    ("resets the handshake", true, reset, "error connect"),
    (
        "an alert",
        true,
        |stream| {
            let _ = stream.read(&mut [0; 4096])?;
            stream.write_all(b"\x15\x03\x03\x00\x02\x02\x28")
        },
        "error connect",
    ),
    ("plain text", true, |stream| stream.write_all(b"220 ready\r\n"), "error connect"),
    (
        "half a record",
        true,
        |stream| {
            let _ = stream.read(&mut [0; 4096])?;
            stream.write_all(b"\x16\x03\x03\x40\x00half")
        },
        "error connect",
    ),
    (
        "a record too long",
        true,
        |stream| {
            let _ = stream.read(&mut [0; 4096])?;
            stream.write_all(&[&b"\x16\x03\x03\xff\xff"[..], &[0; 70000]].concat())
        },
        "error connect",
    ),
];

/// Ends it so that the peer gets a reset: what it has sent by then is never read.
fn reset(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.peek(&mut [0]).map(drop)
}

#[test]
fn connections_that_end_in_odd_ways() {
    let ports: Vec<String> = PEERS
        .iter()
        .map(|(_, _, serve, _)| {
            let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
            let port = listener.local_addr().expect("it is bound").port();
            std::thread::spawn(move || {
                for stream in listener.incoming() {
                    let Ok(mut stream) = stream else { return };
                    std::thread::spawn(move || serve(&mut stream));
                }
            });
            port.to_string()
        })
        .collect();
    let is_tls: Vec<String> = PEERS.iter().map(|(_, is_tls, ..)| is_tls.to_string()).collect();
    let script = format!(
        "import {{ Socket }} from 'k6/x/tcp';
         export default async function () {{
           const [ports, tls] = [[{}], [{}]];
           for (let index = 0; index < ports.length; index++) {{
             const [socket, seen] = [new Socket(), []];
             const closed = new Promise((resolve) => socket.on('close', resolve));
             socket.on('connect', () => seen.push('connect'));
             socket.on('data', () => {{}});
             socket.on('error', (error) => seen.push(`error ${{error.method}}`));
             const connected = await socket.connect({{ port: ports[index], host: '127.0.0.1', tls: tls[index] }}).then(() => true, () => false);
             if (connected && '{}'.split(',')[index].includes('resets')) await socket.write('x');
             if (connected) await closed;
             if (socket.bytes_read > 0) seen.splice(1, 0, `data ${{socket.bytes_read}}`);
             if (connected) seen.push('close');
             console.log(seen.join(' '));
           }}
         }}",
        ports.join(","),
        is_tls.join(","),
        PEERS.iter().map(|(name, ..)| name.replace(',', ";")).collect::<Vec<_>>().join(",")
    );
    case(&script).both(|report| {
        report.assert_clean();
        let expect: Vec<&str> = PEERS.iter().map(|(.., expect)| *expect).collect();
        assert_eq!(report.said(), expect, "{report:#?}");
    });
}
