//! `responseType: 'stream'` in both layouts: bodies as they arrive, ways to read them, how they end, and hostile servers.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use onrush_metrics::builtin;

use crate::harness::case;

/// A server that answers each connection's first request with `serve`, which gets the path.
fn server(serve: impl Fn(&mut TcpStream, &str) -> std::io::Result<()> + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    let serve = Arc::new(serve);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let serve = serve.clone();
            std::thread::spawn(move || {
                let mut head = [0; 4096];
                let read = stream.read(&mut head).unwrap_or_default();
                let text = String::from_utf8_lossy(&head[..read]).into_owned();
                let path = text.split(' ').nth(1).unwrap_or_default();
                if serve(&mut stream, path).is_ok() {
                    let _ = stream.shutdown(std::net::Shutdown::Write);
                    let _ = stream.read_to_end(&mut Vec::new());
                }
            });
        }
    });
    port.to_string()
}

#[test]
fn three_ways_to_read_a_body() {
    case(
        "import http from 'k6/http'; import { ReadableStream } from 'k6/experimental/streams';
         export const options = { summaryTrendStats: ['count'], discardResponseBodies: true };
         const url = `http://${__ENV.TARGET}/stream?count=3&bytes=2&interval_ms=20`;
         const lines = (text) => text.trim().split('\\n').map((line) => JSON.parse(line).index).join();
         export default async function () {
           const text = () => { const decoder = new TextDecoder(); return (chunk) => (chunk ? decoder.decode(chunk, { stream: true }) : ''); };
           const blocking = http.get(url, { responseType: 'stream' });
           let [seen, decode] = ['', text()];
           for (const chunk of blocking.body) seen += decode(chunk);
           console.log(blocking.status, lines(seen), blocking.timings.receiving > 0);

           const response = await http.asyncRequest('GET', url, null, { responseType: 'stream' });
           const reader = response.body.getReader();
           [seen, decode] = ['', text()];
           for (let read = await reader.read(); !read.done; read = await reader.read()) seen += decode(read.value);
           await reader.closed;
           console.log(lines(seen), response.body instanceof ReadableStream, response.body === response.body);

           const [one, two] = http.batch([['GET', url, null, { responseType: 'stream' }], ['GET', url, null, { responseType: 'stream' }]]);
           const all = async (body) => { let [seen, decode] = ['', text()]; for await (const chunk of body) seen += decode(chunk); return lines(seen); };
           console.log((await Promise.all([all(one.body), all(two.body)])).join(' '));
           console.log((await two.body.getReader().read()).done, [...one.body].length, one.body.locked, two.body.locked);
         }
         export function handleSummary(data) {
           const count = (name) => data.metrics[name].values.count;
           console.log(['http_stream_chunks', 'http_stream_time_to_first_chunk', 'http_stream_chunk_interval', 'http_reqs', 'http_req_duration'].map(count).join(' '));
           return {};
         }",
    )
    .both(|report| {
        report.assert_clean();
        let said = report.said();
        assert_eq!(said[..4], ["200 0,1,2 true", "0,1,2 true true", "0,1,2 0,1,2", "true 0 false true"], "{report:#?}");
        let counts: Vec<u32> = said[4].split(' ').map(|count| count.parse().expect("a count")).collect();
        let &[chunks, first, interval, requests, durations] = &counts[..] else { panic!("{report:#?}") };
        assert_eq!((first, requests, durations), (4, 4, 4), "{report:#?}");
        // Two pieces may arrive as one.
        assert!(chunks >= 8 && chunks == first + interval, "{report:#?}");
    });
}

#[test]
fn over_tls_and_http2_compressed_and_with_everything_a_request_has() {
    case(
        "import http from 'k6/http';
         export const options = { insecureSkipTLSVerify: true };
         const read = (body) => { const decoder = new TextDecoder(); let text = ''; for (const chunk of body) text += decoder.decode(chunk, { stream: true }); return text; };
         export default function () {
           const params = { responseType: 'stream' };
           const lines = http.get(`https://${__ENV.TLS_TARGET}/stream?count=3&bytes=2`, params);
           console.log(lines.proto, read(lines.body).trim().split('\\n').length);
           for (const list of ['gzip', 'deflate', 'br', 'zstd', 'gzip,br']) {
             const response = http.get(`https://${__ENV.TLS_TARGET}/encoded/${list}/300000`, params);
             console.log(list, response.headers['Content-Encoding'] !== undefined, read(response.body).length);
           }
           const redirected = http.get(`http://${__ENV.TARGET}/redirect/2`, params);
           console.log(redirected.status, redirected.url.endsWith('/get'), JSON.parse(read(redirected.body)).headers.Host !== undefined);
           const posted = http.post(`http://${__ENV.TARGET}/anything`, { a: 1 }, { ...params, headers: { 'X-Own': 'b' }, tags: { name: 'own' } });
           const sent = JSON.parse(read(posted.body));
           console.log(sent.form.a, sent.headers['X-Own']);
           console.log(http.get(`http://${__ENV.TARGET}/status/204`, params).body, [...http.head(`http://${__ENV.TARGET}/get`, params).body].length);
           for (const call of [() => sent.x.y, () => posted.json(), () => posted.html()]) { try { call(); } catch (error) { console.log(error.message); } }
           const digest = http.get(`http://user:pass@${__ENV.TARGET}/digest-auth/auth/user/pass`, { ...params, auth: 'digest' });
           console.log(digest.status, JSON.parse(read(digest.body)).authenticated);
         }",
    )
    .both(|report| {
        report.assert_clean();
        let stream = "the body is a stream: read response.body, or send the request without responseType: 'stream'";
        let said = report.said();
        assert_eq!(
            said[..6],
            ["HTTP/2.0 3", "gzip true 300000", "deflate true 300000", "br true 300000", "zstd true 300000", "gzip,br true 300000"],
            "{report:#?}"
        );
        assert_eq!(said[6..9], ["200 true true", "1 b", "null 0"], "{report:#?}");
        assert_eq!(said[10..], [stream, stream, "200 true"], "{report:#?}");
    });
}

#[test]
fn failures_are_told_where_the_body_is_read() {
    case(
        "import http from 'k6/http';
         const base = `http://${__ENV.TARGET}`;
         const outcome = async (call) => { try { return await call(); } catch (error) { return `${error.name}: ${error.message}`; } };
         export default async function () {
           const params = { responseType: 'stream' };
           const gone = http.get('http://127.0.0.1:1/', params);
           console.log(gone.status, gone.body, gone.error_code);
           const slow = http.get(`${base}/stream?count=2&interval_ms=60000`, { ...params, timeout: '300ms' });
           console.log(await outcome(() => [...slow.body].length));
           console.log(await outcome(() => [...slow.body].length), slow.timings.receiving >= 200);
           const late = await http.asyncRequest('GET', `${base}/stream?count=2&interval_ms=60000`, null, { ...params, timeout: 300 });
           const reader = late.body.getReader();
           console.log(await outcome(async () => { for (;;) { if ((await reader.read()).done) return 'done'; } }), '|', await outcome(() => reader.closed));
           const head = http.get(`${base}/delay/60`, { ...params, timeout: 100 });
           console.log(head.status, head.error);
           console.log(await outcome(() => http.get('http://127.0.0.1:1/', { ...params, throw: true })));
           const locked = http.get(`${base}/get`, params);
           const holder = locked.body.getReader();
           console.log(await outcome(() => [...locked.body]));
           const pending = holder.read();
           holder.releaseLock();
           console.log(await outcome(() => pending), '|', await outcome(() => [...locked.body]));
         }",
    )
    .both(|report| {
        let expect = [
            "0 null 1212",
            "GoError: request timeout",
            "GoError: request timeout true",
            "GoError: request timeout | GoError: request timeout",
            "0 request timeout",
            "GoError: Get \"http://127.0.0.1:1/\": dial tcp 127.0.0.1:1: connect: connection refused",
            "TypeError: stream is locked",
            "TypeError: reader released | TypeError: the body is being read already: await that first",
        ];
        assert_eq!(report.said(), expect, "{report:#?}");
        assert_eq!(report.rate(builtin::HTTP_REQ_FAILED), (5, 6), "{report:#?}");
    });
}

/// Whole answers of servers, and what the script reads of them: text, and the error.
const HOSTILE: &[(&[u8], &str, &str)] = &[
    (b"HTTP/1.1 200 OK\r\n\r\nuntil the end", "until the end", ""),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", "short", "unexpected EOF"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nlonger", "lon", ""),
    (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n", "abc", "invalid byte in chunk length"),
    (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "abc", "unexpected EOF"),
    (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffffff\r\n",
        "",
        "http chunk length too large",
    ),
    (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcXX0\r\n\r\n", "abc", "malformed chunked encoding"),
    (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nnot gzip at all", "", "gzip: invalid header"),
    (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n", "", "EOF"),
    (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip,gzip,gzip,gzip,gzip\r\n\r\nx", "", "more than 4 encodings"),
    (b"HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\n\r\n\x28\xb5\x2f\xfd\x00\xf8", "", "window size exceeded"),
    (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok", ""),
];

#[test]
fn hostile_servers_end_their_own_body() {
    let port = server(|stream, path| match path {
        "/flood" => loop {
            stream.write_all(&[b'x'; 65536])?;
        },
        number => {
            let number: usize = number.trim_start_matches('/').parse().unwrap_or_default();
            stream.write_all(HOSTILE[number].0)
        }
    });
    let script = format!(
        "import http from 'k6/http';
         export default function () {{
           for (let index = 0; index < {}; index++) {{
             let [text, said] = ['', ''];
             try {{
               const response = http.get(`http://127.0.0.1:${{__ENV.PORT}}/${{index}}`, {{ responseType: 'stream' }});
               for (const chunk of response.body) text += new TextDecoder().decode(chunk);
             }} catch (error) {{ said = error.message; }}
             console.log(`${{text}}|${{said}}`);
           }}
         }}",
        HOSTILE.len()
    );
    case(&script).env("PORT", &port).both(|report| {
        report.assert_clean();
        assert_eq!(report.said().len(), HOSTILE.len(), "{report:#?}");
        for (said, (_, text, error)) in report.said().iter().zip(HOSTILE) {
            let (seen, told) = said.split_once('|').expect("both");
            assert_eq!(seen, *text, "{report:#?}");
            assert!(told.contains(error) && told.is_empty() == error.is_empty(), "{said} is not {error}: {report:#?}");
        }
    });
}

/// What is not read stays with the server; what unfolds far is refused; and what the script keeps is its memory.
#[test]
fn memory_is_limited() {
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = sent.clone();
    let port = server(move |stream, path| {
        stream.set_write_timeout(Some(Duration::from_secs(20)))?;
        if path == "/bomb" {
            let bomb = zstd_bomb();
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\n\r\n")?;
            return stream.write_all(&bomb);
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        loop {
            stream.write_all(&[b'x'; 65536])?;
            counted.fetch_add(65536, Ordering::Relaxed);
        }
    });
    case(
        "import http from 'k6/http'; import { sleep } from 'k6';
         export default function () {
           const response = http.get(`http://127.0.0.1:${__ENV.PORT}/flood`, { responseType: 'stream' });
           const chunks = response.body[Symbol.iterator]();
           chunks.next();
           sleep(0.5);
           console.log(chunks.next().value.length <= 65536, chunks.return().done);
           try {
             for (const chunk of http.get(`http://127.0.0.1:${__ENV.PORT}/bomb`, { responseType: 'stream' }).body);
           } catch (error) { console.log(error.message.includes('became more than')); }
         }",
    )
    .env("PORT", &port)
    .memory_limit(16 << 20)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["true true", "true"], "{report:#?}");
    });
    // Two layouts, each with what sockets hold on both sides.
    assert!(sent.load(Ordering::Relaxed) < 64 << 20, "{sent:?}");
    let hoard = "import http from 'k6/http';
         export default function () {
           const chunks = [];
           for (const chunk of http.get(`http://127.0.0.1:${__ENV.PORT}/flood`, { responseType: 'stream' }).body) chunks.push(chunk);
         }";
    let report = case(hoard).env("PORT", &port).memory_limit(16 << 20).run();
    assert!(report.lines.iter().any(|line| line.contains("its limit of 16 MiB")), "{report:#?}");
}

/// A frame of one block that repeats a byte 128 KiB long, again and again.
fn zstd_bomb() -> Vec<u8> {
    let mut bomb = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
    for _ in 0..20_000 {
        let header: u32 = (128 << 10) << 3 | 1 << 1;
        bomb.extend_from_slice(&header.to_le_bytes()[..3]);
        bomb.push(b'x');
    }
    bomb
}

/// Bodies that nobody reads to their end are over with the iteration, with their samples; short ones leave their connections.
#[test]
fn unread_bodies_end_with_the_iteration() {
    case(
        "import http from 'k6/http';
         const params = { responseType: 'stream' };
         export default async function () {
           http.get(`http://${__ENV.TARGET}/stream-bytes/50000000`, params);
           const read = http.get(`http://${__ENV.TARGET}/stream?count=1000000&interval_ms=1000`, params).body.getReader();
           read.read();
           const left = http.get(`http://${__ENV.TARGET}/stream?count=1000000&interval_ms=1000`, params);
           await left.body.cancel();
           for (const chunk of http.get(`http://${__ENV.TARGET}/stream?count=1000000&interval_ms=1000`, params).body) break;
           for (let index = 0; index < 30; index++) http.get(`http://${__ENV.TARGET}/stream?count=9&interval_ms=1000`, params);
         }",
    )
    .vus(1, 2)
    .both(|report| {
        report.assert_clean();
        assert_eq!((report.count(builtin::HTTP_REQS), report.iterations()), (68.0, 2.0), "{report:#?}");
        assert_eq!(report.rate(builtin::HTTP_REQ_FAILED).0, 0, "{report:#?}");
    });
    case(
        "import http from 'k6/http';
         export default function () {
           console.log(http.get(`http://${__ENV.TARGET}/get`, { responseType: 'stream' }).timings.connecting === 0);
         }",
    )
    .vus(1, 2)
    .both(|report| assert_eq!(report.said(), ["false", "true"], "{report:#?}"));
    // An exception, with a read under way.
    case(
        "import http from 'k6/http';
         export default async function () {
           const response = http.get(`http://${__ENV.TARGET}/stream?count=1000000&interval_ms=1000`, { responseType: 'stream' });
           const reader = response.body.getReader();
           await reader.read();
           reader.read();
           throw new Error('own');
         }",
    )
    .both(|report| {
        assert!(report.level("error")[0].contains("own"), "{report:#?}");
        assert_eq!(report.count(builtin::HTTP_REQS), 1.0, "{report:#?}");
    });
}

/// A reader that comes back in a later iteration is told, and one of a body that was read or cancelled gets its end.
#[test]
fn bodies_are_not_read_after_their_iteration() {
    case(
        "import http from 'k6/http';
         const url = `http://${__ENV.TARGET}/stream?count=2&interval_ms=10`;
         const open = () => http.get(url, { responseType: 'stream' }).body;
         const kept = [];
         const attempt = async (read) => { try { return await read(); } catch (e) { return String(e); } };
         export default async function () {
           if (kept.length === 0) {
             kept.push(open(), open(), open(), open().getReader());
             for (const chunk of kept[0]);
             await kept[1].cancel();
             kept[2].getReader().read();
             await kept[3].read();
             return;
           }
           const count = (body) => { let chunks = 0; for (const chunk of body) chunks++; return chunks; };
           console.log(await attempt(() => count(kept[0])));
           console.log(await attempt(() => count(kept[1])));
           console.log(await attempt(() => count(kept[2])));
           console.log(await attempt(() => kept[3].read()));
           console.log(await attempt(() => kept[3].cancel()));
         }",
    )
    .vus(1, 2)
    .both(|report| {
        report.assert_clean();
        let said = report.said();
        let told = "TypeError: the body ended with the iteration of its request: read it there";
        assert_eq!((said[0], said[1], said[3]), ("0", "0", told), "{report:#?}");
        assert!(said[2].starts_with("TypeError"), "{report:#?}");
    });
}

#[test]
fn endless_bodies_do_not_hold_the_test() {
    let reads = [
        "for (const chunk of response.body);",
        "for await (const chunk of response.body);",
        "const reader = response.body.getReader(); while (!(await reader.read()).done);",
    ];
    for read in reads {
        let script = format!(
            "import http from 'k6/http';
             export const options = {{ scenarios: {{ all: {{ executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '0s' }} }} }};
             export default async function () {{
               const response = http.get(`http://${{__ENV.TARGET}}/stream?count=1000000&bytes=100000&interval_ms=${{__VU % 2 * 300}}`, {{ responseType: 'stream' }});
               {read}
             }}"
        );
        case(&script).both(|report| {
            assert!(report.stop.is_none() && report.iterations() == 0.0, "{report:#?}");
            assert_eq!(report.count(builtin::HTTP_REQS), 0.0, "cut requests make no samples: {report:#?}");
        });
    }
}

/// Scripts without streams can use the names of the metrics.
#[test]
fn metrics_are_declared_by_use() {
    let script = |word: &str| {
        format!(
            "import http from 'k6/http'; import {{ Trend }} from 'k6/metrics'; const own = new Trend('http_stream_chunks');
             export default function () {{
               own.add(1);
               console.log([...http.get(`http://${{__ENV.TARGET}}/get`, {{ responseType: {word} }}).body].length > 0);
             }}"
        )
    };
    case(&script("'text'")).both(|report| assert_eq!(report.said(), ["true"]));
    let stop = case(&script("'stream'")).run().stop.unwrap_or_default();
    assert!(stop.contains("metric 'http_stream_chunks' already exists but with type counter"), "{stop}");
    let report = case(&script("['str', 'eam'].join('')")).vus(1, 2).run();
    assert_eq!((report.said().len(), report.level("warning").len()), (2, 1), "{report:#?}");
    assert!(report.level("warning")[0].starts_with("the http_stream_* metrics are missing"), "{report:#?}");
}
