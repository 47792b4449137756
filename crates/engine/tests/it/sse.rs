//! `k6/x/sse` in both layouts: what its callbacks see, what is counted, and servers that misbehave.

use std::{
    io::{Read, Write},
    net::TcpListener,
    time::Duration,
};

use crate::harness::case;

#[test]
fn events_that_came_in_time_and_are_read_late_are_late() {
    case(
        "import sse from 'k6/x/sse'; import { sleep } from 'k6';
         export default function () {
           let [events, errors] = [0, []];
           const response = sse.open(`http://${__ENV.TARGET}/sse?count=50`, { timeout: 300 }, (client) => {
             client.on('event', () => { events += 1; sleep(0.2); });
             client.on('error', (error) => errors.push(error.error()));
           });
           console.log(response.status, response.error, errors.join(), events > 0 && events < 3);
         }",
    )
    .both(|report| assert_eq!(report.said(), ["200 request timeout request timeout true"]));
}

/// Counts of the module's metrics at the end of a run, as a script says them.
const COUNTS: &str = "export function handleSummary(data) {
   const count = (name, value) => (data.metrics[name] ? data.metrics[name].values[value] : 0);
   console.log('counts', count('sse_event', 'count'), count('http_reqs', 'count'), count('http_req_failed', 'passes'));
   return {};
 }";

#[test]
fn events_come_until_the_stream_ends() {
    case(
        "import sse from 'k6/x/sse'; import { open } from 'k6/x/sse';
         export const options = { summaryTrendStats: ['count'] };
         export default function () {
           const seen = [];
           const response = sse.open(`http://${__ENV.TARGET}/sse?count=3&bytes=2&event=tick&comments=1&last=end`, (client) => {
             client.on('open', () => seen.push('open'));
             client.on('event', (event) => seen.push(`${event.id}|${event.name}|${event.data}|${event.comment}`));
             client.on('error', (error) => seen.push(error.error()));
           });
           console.log(seen.join(' '), open === sse.open);
           console.log(response.status, response.url.endsWith('last=end'), response.headers['Content-Type'], response.error === '');
         }
         export function handleSummary(data) {
           const count = (name) => data.metrics[name].values.count;
           console.log(['sse_event', 'sse_time_to_first_event', 'sse_event_interval', 'http_reqs', 'http_req_duration'].map(count).join(' '));
           return {};
         }"
    )
    .vus(2, 2)
    .both(|report| {
        report.assert_clean();
        let events = "open |||still here 0|tick|0 xx| |||still here 1|tick|1 xx| |||still here 2|tick|2 xx| ||end| true";
        let mut expect = vec!["200 true text/event-stream true"; 4];
        expect.extend([events; 4]);
        // Comments are not counted.
        let mut said = report.said();
        assert_eq!(said.pop(), Some("16 4 12 4 4"), "{report:#?}");
        said.sort_unstable();
        assert_eq!(said, expect);
    });
}

#[test]
fn requests_are_those_of_k6_http() {
    case(
        "import sse from 'k6/x/sse'; import http from 'k6/http';
         export default function () {
           http.get(`http://${__ENV.TARGET}/cookies/set?a=b`);
           const chunks = [];
           const read = (path, params) => {
             chunks.length = 0;
             const response = sse.open(path, params, (client) => client.on('chunk', (bytes) => chunks.push(new TextDecoder().decode(bytes))));
             return [response, chunks.join('')];
           };
           const base = `http://${__ENV.TARGET}`;
           const [post, text] = read(`${base}/anything`, { method: 'POST', body: '{\"stream\":true}', headers: { 'X-Own': '1', Accept: 'application/json' }, tags: { name: 'ask' } });
           const sent = JSON.parse(text);
           console.log(post.status, sent.method, sent.data, sent.headers['X-Own'], sent.headers.Accept, sent.headers['Cache-Control'], sent.headers.Cookie);
           const [redirected, page] = read(`${base}/redirect/2`, {});
           console.log(redirected.status, JSON.parse(page).headers.Accept);
           const [gzip, small] = read(`${base}/encoded/gzip,br/100000`, null);
           console.log(gzip.status, small.length);
           const [lines, json] = read(`${base}/stream?count=3&bytes=1`, {});
           console.log(lines.status, json.trim().split('\\n').map((line) => JSON.parse(line).index).join());
         }",
    )
    .both(|report| {
        report.assert_clean();
        let expect = [
            "200 POST {\"stream\":true} 1 application/json no-cache a=b",
            "200 text/event-stream",
            "200 100000",
            "200 0,1,2",
        ];
        assert_eq!(report.said(), expect);
    });
}

#[test]
fn over_tls_and_http2_callbacks_may_wait_and_end_it() {
    case(
        "import sse from 'k6/x/sse'; import http from 'k6/http'; import { sleep } from 'k6';
         export const options = { insecureSkipTLSVerify: true };
         export default function () {
           const seen = [];
           const response = sse.open(`https://${__ENV.TLS_TARGET}/sse?count=1000000&bytes=100`, { method: 'GET' }, (client) => {
             client.on('event', (event) => {
               seen.push(event.id);
               sleep(0.001);
               seen.push(http.get(`https://${__ENV.TLS_TARGET}/get`).proto);
               if (event.id === '2') client.close();
             });
           });
           console.log(seen.join(' '), response.status, response.error);
         }",
    )
    .vus(2, 2)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), vec!["0 HTTP/2.0 1 HTTP/2.0 2 HTTP/2.0 200 "; 4], "{report:#?}");
    });
}

#[test]
fn wrong_calls_and_failures_are_told() {
    case(&format!(
        "import sse from 'k6/x/sse';
         const say = (f) => {{ try {{ console.log(JSON.stringify(f())); }} catch (error) {{ console.log(error.message); }} }};
         say(() => sse.open('http://127.0.0.1/', () => {{}}));
         export default function () {{
           const base = `http://${{__ENV.TARGET}}`;
           say(() => sse.open(base));
           say(() => sse.open(base, {{}}, () => {{}}, 1));
           say(() => sse.open(base, {{}}));
           say(() => sse.open(base, (client) => client.on('message', () => {{}})));
           say(() => sse.open(base, () => {{ throw new Error('own'); }}));
           say(() => sse.open(`${{base}}/sse`, (client) => client.on('event', () => {{ throw new Error('from an event'); }})));
           const failing = (url, params) => {{
             const seen = [];
             const response = sse.open(url, params, (client) => {{ client.on('open', () => seen.push('open')); client.on('error', (error) => seen.push(String(error) === error.error())); }});
             console.log(response.status, response.error.replace(/:\\d+/g, ':PORT'), seen.join());
           }};
           failing(`${{base}}/status/503`);
           failing('http://127.0.0.1:1/');
           failing('nothing://a');
           failing(`${{base}}/sse?count=2&interval_ms=60000`, {{ timeout: 100 }});
           failing(`${{base}}/delay/60`, {{ timeout: '100ms' }});
           say(() => sse.open('http://127.0.0.1:1/', {{ throw: true }}, () => {{}}));
         }}
         {COUNTS}"
    ))
    .both(|report| {
        let expect = [
            "using sse in the init context is not supported",
            "invalid number of arguments to sse.open",
            "invalid number of arguments to sse.open",
            "last argument to sse.open must be a function",
            "unknown event: message",
            "own",
            "from an event",
            "503 unexpected status 503 Service Unavailable true",
            "0 Get \"http://127.0.0.1:PORT/\": dial tcp 127.0.0.1:PORT: connect: connection refused true",
            "0 Get \"nothing://a\": unsupported protocol scheme \"nothing\" true",
            "200 request timeout open,true",
            "0 Get \"http://127.0.0.1:PORT/delay/60\": request timeout true",
        ];
        let said = report.said();
        // The init code runs for each VU, and once for the summary.
        let first = said.iter().position(|line| *line == expect[1]).expect("it was called");
        assert_eq!(said[first - 1], expect[0], "{report:#?}");
        assert_eq!(said[first..first + 11], expect[1..], "{report:#?}");
        assert_eq!(said[first + 11], "Get \"http://127.0.0.1:1/\": dial tcp 127.0.0.1:1: connect: connection refused");
    });
}

/// Whole answers of servers, what the script sees of events, and the error.
const HOSTILE: &[(&[u8], &str, &str)] = &[
    (b"", "", "EOF"),
    (b"data: no HTTP\n\n", "", "malformed HTTP status code \"no\""),
    (b"HTTP/1.1 200 OK\r\n\r\ndata: a\n\ndata: cut", "a", ""),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ndata: a\n\n", "a", "unexpected EOF"),
    (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: a\n\n\r\nzz\r\n",
        "a",
        "invalid byte in chunk length",
    ),
    (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffffff\r\n",
        "",
        "http chunk length too large",
    ),
    (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\ndata: not gzip at all\n\n", "", "gzip: invalid header"),
    (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip,gzip,gzip,gzip,gzip\r\n\r\n", "", "more than 4 encodings"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "", "bad Content-Length"),
    (b"HTTP/1.1 200 OK\r\n\r\n\xef\xbb\xbfdata: \xff\xfe\r\rid\r\ndata\r\n\r\n", "\u{fffd}\u{fffd},", ""),
    (b"HTTP/1.1 101 Switching Protocols\r\n\r\n", "", "unexpected status 101"),
    (b"HTTP/1.1 302 Found\r\nLocation: http://%zz/\r\n\r\n", "", "failed to parse Location header"),
];

#[test]
fn hostile_servers_end_the_stream_alone() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut head = [0; 4096];
            let read = stream.read(&mut head).unwrap_or_default();
            let text = String::from_utf8_lossy(&head[..read]).into_owned();
            let number = text.strip_prefix("GET /").and_then(|rest| rest.split(' ').next()?.parse::<usize>().ok());
            if let Some(number) = number
                && let Some((answer, ..)) = HOSTILE.get(number)
            {
                let _ = stream.write_all(answer);
            } else if text.starts_with("GET /flood ") {
                // A line without an end.
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\ndata: ");
                while stream.write_all(&[b'x'; 65536]).is_ok() {}
                continue;
            }
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let _ = stream.read_to_end(&mut Vec::new());
        }
    });
    let script = format!(
        "import sse from 'k6/x/sse';
         export default function () {{
           for (const path of [...Array({}).keys(), 'flood']) {{
             const seen = [];
             const response = sse.open(`http://127.0.0.1:${{__ENV.PORT}}/${{path}}`, (client) => client.on('event', (event) => seen.push(event.data)));
             console.log(`${{seen.join()}}|${{response.error}}`);
           }}
         }}",
        HOSTILE.len()
    );
    case(&script).env("PORT", &port.to_string()).both(|report| {
        report.assert_clean();
        let said = report.said();
        for (said, (_, events, error)) in said.iter().zip(HOSTILE) {
            let (seen, text) = said.split_once('|').expect("both");
            assert_eq!(seen, *events, "{report:#?}");
            assert!(text.contains(error) && text.is_empty() == error.is_empty(), "{said} is not {error}");
        }
        assert_eq!(said.last(), Some(&"|an event exceeds 16777216 bytes"), "{report:#?}");
    });
    // The same within a small heap: the script's memory is what it would take.
    let flood = "import sse from 'k6/x/sse';
         export default function () { sse.open(`http://127.0.0.1:${__ENV.PORT}/flood`, () => {}); }";
    let report = case(flood).env("PORT", &port.to_string()).memory_limit(8 << 20).run();
    assert!(report.lines.iter().any(|line| line.contains("out of memory")), "{report:#?}");
}

/// A stream that goes on is cut with its iteration.
#[test]
fn endless_streams_do_not_hold_the_test() {
    for path in ["/sse?count=1000000&interval_ms=1000", "/sse?count=1000000&bytes=1000", "/delay/60"] {
        case(
            "import sse from 'k6/x/sse';
             export const options = { scenarios: { all: { executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '0s' } } };
             export default function () { sse.open(`http://${__ENV.TARGET}${__ENV.ADDRESS}`, (client) => client.on('event', () => {})); }",
        )
        .env("ADDRESS", path)
        .both(|report| assert!(report.stop.is_none() && report.iterations() == 0.0, "{report:#?}"));
    }
    let report = case(
        "import sse from 'k6/x/sse';
         export default function () { sse.open(`http://${__ENV.TARGET}/sse?count=1000000&interval_ms=1000`, () => {}); }",
    )
    .interrupt_after(Duration::from_millis(300))
    .run();
    assert_eq!(report.iterations(), 0.0);
}

/// Metrics are the module's: a script without it can use their names.
#[test]
fn metrics_are_declared_by_the_import() {
    let script = |import: &str| {
        format!(
            "{import} import {{ Trend }} from 'k6/metrics'; const own = new Trend('sse_event');
             export default function () {{ own.add(1); console.log('ran'); }}"
        )
    };
    case(&script("")).both(|report| assert_eq!(report.said(), ["ran"]));
    let report = case(&script("import sse from 'k6/x/sse';")).run();
    let stop = report.stop.unwrap_or_default();
    assert!(stop.contains("metric 'sse_event' already exists but with type counter, instead of trend"), "{stop}");
}
