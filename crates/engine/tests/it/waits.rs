//! What each module waits for, in both layouts: a wait without end is cut with its iteration, callbacks may wait, arguments
//! may be made by code that waits, and what a script hoards counts.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
};

use crate::harness::{Case, Report, case};

const IMPORTS: &str = "
    import http from 'k6/http'; import ws from 'k6/ws'; import { WebSocket, Blob } from 'k6/websockets'; import grpc from 'k6/net/grpc';
    import redis from 'k6/x/redis'; import csv from 'k6/experimental/csv'; import fs from 'k6/experimental/fs';
    import { ReadableStream } from 'k6/experimental/streams'; import { sleep, group, check } from 'k6'; import exec from 'k6/execution';
    import encoding from 'k6/encoding'; import k6crypto from 'k6/crypto'; import { SharedArray } from 'k6/data'; import { parseHTML } from 'k6/html';
    const URL_OF = (path) => `http://${__ENV.TARGET}${path}`; const WS = (path) => `ws://${__ENV.TARGET}${path}`;
    const db = new redis.Client(`redis://127.0.0.1:${__ENV.REDIS}?read_timeout=1000`);
    const file = await fs.open('data.csv'); const parser = new csv.Parser(file); const MB = 'x'.repeat(1 << 20);
    const connected = (client) => { client.connect(__ENV.TARGET, { plaintext: true, reflect: true }); return client; };
    const client = new grpc.Client(); const pause = () => { sleep(0.01); return http.get(URL_OF('/get')).status; };
    const { subtle } = crypto; const bytes = (text) => new Uint8Array([...text].map((letter) => letter.charCodeAt(0)));
";

/// A script with all modules, and a server that is silent or answers commands of Redis.
fn lab(body: &str, options: &str, answers: bool) -> Case {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream, answers));
        }
    });
    case(&format!("{IMPORTS} {options} export default async function () {{ {body} }}"))
        .env("REDIS", &port.to_string())
        .file("data.csv", "name,city\nAnna,Bern\nBen,Oslo\n".repeat(50))
}

/// Every command gets `$2 hi`, or nothing ever.
fn serve(mut stream: TcpStream, answers: bool) {
    if !answers {
        let _ = stream.read_to_end(&mut Vec::new());
        return;
    }
    let Ok(reading) = stream.try_clone() else { return };
    let mut lines = BufReader::new(reading);
    let mut line = String::new();
    while lines.read_line(&mut line).is_ok_and(|count| count > 0) {
        let parts = line.trim_end().strip_prefix('*').and_then(|count| count.parse::<usize>().ok()).unwrap_or(0);
        line.clear();
        for _ in 0..2 * parts {
            if lines.read_line(&mut line).is_err() {
                return;
            }
            line.clear();
        }
        if stream.write_all(b"$2\r\nhi\r\n").is_err() {
            return;
        }
    }
}

/// What waits for ever, or works without end.
const ENDLESS: &[(&str, &str)] = &[
    ("http", "http.get(URL_OF('/delay/60'), { timeout: '10m' });"),
    ("http, asynchronous", "await http.asyncRequest('GET', URL_OF('/delay/60'), null, { timeout: '10m' });"),
    ("http, a batch", "http.batch([...Array(9)].map(() => ['GET', URL_OF('/delay/60'), null, { timeout: '10m' }]));"),
    ("ws", "ws.connect(WS('/ws/echo'), {}, (socket) => socket.setInterval(() => socket.ping(), 10));"),
    ("ws, connecting", "ws.connect(WS('/ws/echo?delay_ms=60000'), {}, () => {});"),
    ("ws, within a callback", "ws.connect(WS('/ws/echo'), {}, (socket) => socket.on('open', () => sleep(600)));"),
    (
        "ws, a flood",
        "ws.connect(WS('/ws/count?count=100000000&bytes=10'), {}, (socket) => socket.on('message', () => {}));",
    ),
    ("websockets", "new WebSocket(WS('/ws/echo'));"),
    ("websockets, connecting", "new WebSocket(WS('/ws/echo?delay_ms=60000')).onopen = () => {};"),
    ("websockets, within a callback", "new WebSocket(WS('/ws/echo')).onopen = () => http.get(URL_OF('/delay/60'));"),
    ("websockets, a flood", "new WebSocket(WS('/ws/count?count=100000000&bytes=10')).onmessage = () => {};"),
    ("grpc, connecting", "client.connect(`127.0.0.1:${__ENV.REDIS}`, { plaintext: true, timeout: '10m' });"),
    (
        "grpc, reflection",
        "client.connect(`127.0.0.1:${__ENV.REDIS}`, { plaintext: true, reflect: true, timeout: '10m' });",
    ),
    ("grpc, a call", "connected(client).invoke('target.Echo/Wait', { milliseconds: 600000 }, { timeout: '10m' });"),
    (
        "grpc, asynchronous",
        "await connected(client).asyncInvoke('target.Echo/Wait', { milliseconds: 600000 }, { timeout: '10m' });",
    ),
    (
        "grpc, a stream of the server",
        "new grpc.Stream(connected(client), 'target.Flow/Count').write({ from: 1, to: 9, pause_ms: 600000 });",
    ),
    ("grpc, a stream of the client", "new grpc.Stream(connected(client), 'target.Flow/Sum').write({ value: 1 });"),
    (
        "grpc, a stream both ways",
        "const s = new grpc.Stream(connected(client), 'target.Flow/Mirror'); s.on('data', (m) => s.write(m)); s.write({ text: 'a' });",
    ),
    (
        "grpc, within a callback",
        "const s = new grpc.Stream(connected(client), 'target.Flow/Count'); s.on('data', () => sleep(600)); s.write({ from: 1, to: 1000000 });",
    ),
    (
        "grpc, a flood",
        "const s = new grpc.Stream(connected(client), 'target.Flow/Count'); s.on('data', () => {}); s.write({ from: 1, to: 2000000000 });",
    ),
    ("redis", "await db.get('a');"),
    ("redis, many", "await Promise.all([...Array(50).keys()].map((n) => db.set(`k${n}`, MB)));"),
    ("csv", "for (;;) await parser.next();"),
    ("csv, a table", "for (;;) await csv.parse(file);"),
    (
        "fs",
        "const buffer = new Uint8Array(9); for (;;) { await file.seek(0, fs.SeekMode.Start); await file.read(buffer); }",
    ),
    (
        "streams",
        "const stream = new ReadableStream({ pull: () => new Promise(() => setInterval(() => {}, 600000)) }); await stream.getReader().read();",
    ),
    (
        "streams, a flood",
        "const reader = new ReadableStream({ pull: (controller) => controller.enqueue(1) }).getReader(); for (;;) await reader.read();",
    ),
    ("streams, waiting", "await new ReadableStream({ start: () => sleep(600) }).getReader().read();"),
    (
        "Web Crypto, the pool",
        "for (;;) await subtle.generateKey({ name: 'RSA-PSS', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }, true, ['sign', 'verify']);",
    ),
    ("Web Crypto", "for (;;) await subtle.digest('SHA-256', bytes('abc'));"),
    ("Web Crypto, large input", "const big = new Uint8Array(8 << 20); for (;;) await subtle.digest('SHA-512', big);"),
    ("crypto", "for (;;) k6crypto.sha256(MB, 'hex');"),
    ("encoding", "for (;;) encoding.b64encode(MB);"),
    ("html", "const page = '<p>a</p>'.repeat(10000); for (;;) parseHTML(page).find('p').text();"),
    ("sleep", "sleep(6000);"),
    ("timers", "setInterval(() => {}, 10);"),
    ("promises", "await new Promise(() => setInterval(() => {}, 600000));"),
];

#[test]
fn a_wait_without_end_is_cut_with_its_iteration() {
    let options = "export const options = { scenarios: { s: { executor: 'ramping-vus', startVUs: 2, stages: [{ duration: '150ms', target: 2 }], gracefulStop: '50ms' } } };";
    for (what, body) in ENDLESS {
        lab(body, options, false).both(|report| {
            assert!(report.stop.is_none(), "{what}: {report:#?}");
            assert_eq!((report.iterations(), report.level("error").len()), (0.0, 0), "{what}: {report:#?}");
        });
    }
}

/// Code that calls back, which keeps what `pause()` gives; and what is shown of that.
const CALLBACKS: &[(&str, &str)] = &[
    (
        "ws",
        "ws.connect(WS('/ws/count?count=2&code=1000'), {}, (socket) => { pause(); for (const on of ['open', 'message', 'close']) socket.on(on, () => { said.push(pause()); }); }) ;; said.length",
    ),
    (
        "ws, timers",
        "ws.connect(WS('/ws/echo'), {}, (socket) => { socket.setInterval(() => { said.push(pause()); if (said.length > 2) socket.close(); }, 1); }) ;; said.length",
    ),
    (
        "websockets",
        "await new Promise((done) => { const socket = new WebSocket(WS('/ws/count?count=2&code=1000')); socket.onopen = () => said.push(pause()); socket.onmessage = () => said.push(pause()); socket.onclose = () => { said.push(pause()); done(); }; }) ;; said.length",
    ),
    (
        "grpc",
        "await new Promise((done) => { const s = new grpc.Stream(connected(client), 'target.Flow/Count'); s.on('data', () => { said.push(pause()); }); s.on('end', () => { said.push(pause()); done(); }); s.write({ from: 1, to: 3 }); s.end(); }) ;; said.length",
    ),
    (
        "grpc, a stream of the client",
        "await new Promise((done) => { const s = new grpc.Stream(connected(client), 'target.Flow/Sum'); s.on('data', (m) => { said.push(pause()); said.push(m.value); }); s.on('end', () => { said.push(pause()); done(); }); for (let i = 1; i < 5; i++) s.write({ value: i }); s.end(); }) ;; said[1]",
    ),
    (
        "grpc, both ways",
        "await new Promise((done) => { const s = new grpc.Stream(connected(client), 'target.Flow/Mirror'); s.on('data', (m) => { said.push(pause()); if (said.length < 4) s.write({ text: m.text + 'a' }); else s.end(); }); s.on('end', done); s.write({ text: 'b' }); }) ;; said.length",
    ),
    (
        "grpc, errors",
        "await new Promise((done) => { const s = new grpc.Stream(connected(client), 'target.Flow/Count'); s.on('error', (e) => { said.push(pause()); said.push(e.code); }); s.on('end', () => done(said.push(pause()))); s.write({ from: 1, to: 1, code: 5 }); s.end(); }) ;; said[1]",
    ),
    (
        "redis",
        "await Promise.all([1, 2, 3].map((n) => db.get(`${n}`).then((text) => { said.push(pause()); said.push(text); }))) ;; said.filter((one) => one === 'hi').length",
    ),
    (
        "csv",
        "for (let i = 0; i < 3; i++) await parser.next().then(({ value }) => { said.push(pause()); }) ;; said.length",
    ),
    (
        "fs",
        "await Promise.all([1, 2].map(() => file.read(new Uint8Array(5)).then(() => said.push(pause())))) ;; said.length",
    ),
    (
        "streams",
        "const stream = new ReadableStream({ start: () => { said.push(pause()); }, pull: (controller) => { said.push(pause()); controller.enqueue(1); }, cancel: () => { said.push(pause()); } }); const reader = stream.getReader(); await reader.read(); await reader.cancel() ;; said.length >= 3",
    ),
    (
        "Web Crypto",
        "await Promise.all([1, 2].map(() => subtle.digest('SHA-1', bytes('a')).then(() => said.push(pause())))) ;; said.length",
    ),
    ("html", "parseHTML('<p>1</p><p>2</p>').find('p').each(() => { said.push(pause()); }) ;; said.length"),
    ("group", "group('g', () => { said.push(pause()); }) ;; said.length"),
    ("check", "check(1, { one: () => said.push(pause()) > 0 }) ;; said.length"),
    ("timers", "await new Promise((done) => setTimeout(() => { said.push(pause()); done(); }, 1)) ;; said.length"),
];

#[test]
fn callbacks_may_sleep_and_make_requests() {
    for (what, body) in CALLBACKS {
        let (body, last) = body.rsplit_once(" ;; ").expect("it ends with what is shown");
        lab(
            &format!(
                "const said = []; {body}; console.log(String({last})); if (said[0] !== 200) throw new Error(said[0]);"
            ),
            "",
            true,
        )
        .vus(2, 2)
        .both(|report| {
            assert!(report.stop.is_none() && report.said().len() == report.lines.len(), "{what}: {report:#?}");
            let said = report.said();
            assert!(said.len() == 4 && said.iter().all(|line| *line == said[0]), "{what}: {report:#?}");
        });
    }
}

/// Arguments whose members are read by code that waits, and that use the same object again meanwhile; and what is shown.
const GETTERS: &[(&str, &str)] = &[
    (
        "http",
        "http.post(URL_OF('/post'), { get a() { pause(); http.post(URL_OF('/post'), { b: 1 }); return 'x'; } }, { get headers() { pause(); return { get A() { pause(); return 'b'; } }; }, get tags() { pause(); return { get t() { pause(); return 'u'; } }; } }).status",
    ),
    (
        "http, a batch",
        "http.batch([{ get url() { pause(); return URL_OF('/get'); }, get method() { return pause() && 'GET'; } }, URL_OF('/get')]).length",
    ),
    (
        "http, a jar",
        "const jar = http.cookieJar(); jar.set(URL_OF('/'), 'a', 'b', { get path() { pause(); jar.set(URL_OF('/'), 'c', 'd'); jar.clear(URL_OF('/')); return '/'; } }) ;; Object.keys(jar.cookiesForURL(URL_OF('/'))).length",
    ),
    (
        "ws",
        "ws.connect(WS('/ws/echo'), { get headers() { pause(); ws.connect(WS('/ws/echo'), {}, (inner) => inner.close()); return { get B() { pause(); return 'c'; } }; } }, (socket) => { socket.close({ valueOf() { pause(); return 1000; } }); }).status",
    ),
    (
        "websockets",
        "await new Promise((done) => { const socket = new WebSocket(WS('/ws/echo'), null, { get tags() { pause(); return { get t() { pause(); return 'u'; } }; } }); socket.onopen = () => socket.close({ valueOf() { pause(); socket.send('again'); return 1000; } }); socket.onclose = done; }) ;; 1",
    ),
    (
        "grpc, a call",
        "connected(client).invoke('target.Echo/Say', { get text() { pause(); return client.invoke('target.Echo/Say', { text: 'in' }).message.text; } }, { get metadata() { pause(); return { get a() { pause(); return 'b'; } }; } }).message.text",
    ),
    (
        "grpc, connecting",
        "const own = new grpc.Client(); own.connect(__ENV.TARGET, { get plaintext() { pause(); own.close(); return true; }, reflect: true }); own.connect(__ENV.TARGET, { plaintext: true, get timeout() { connected(own); return '5s'; } }) ;; own.invoke('target.Echo/Say', { text: 'x' }).status",
    ),
    (
        "grpc, a stream",
        "await new Promise((done) => { const s = new grpc.Stream(connected(client), 'target.Flow/Mirror', { get metadata() { pause(); return {}; } }); s.on('data', () => { s.end(); }); s.on('end', done); s.write({ get text() { pause(); s.write({ text: 'in' }); s.on('data', () => {}); return 'b'; } }); }) ;; 1",
    ),
    (
        "redis",
        "await new redis.Client({ get socket() { pause(); return { get host() { pause(); return '127.0.0.1'; }, port: Number(__ENV.REDIS) }; } }).get({ toString() { pause(); return 'a'; } })",
    ),
    ("csv", "const rows = await csv.parse(file, { get skipFirstLine() { pause(); return true; } }) ;; rows.length"),
    (
        "Web Crypto",
        "const key = await subtle.generateKey({ get name() { pause(); return 'AES-GCM'; }, get length() { pause(); return 128; } }, true, ['encrypt']) ;; (await subtle.encrypt({ name: 'AES-GCM', get iv() { pause(); return new Uint8Array(12); } }, key, bytes('abc'))).byteLength",
    ),
    (
        "crypto",
        "const hash = k6crypto.createHash('sha256'); hash.update('a') ;; hash.digest({ toString() { pause(); hash.update('b'); return 'hex'; } }).length",
    ),
    (
        "execution",
        "exec.vu.metrics.tags.a = 'b'; Object.assign(exec.vu.metrics.tags, { get c() { pause(); delete exec.vu.metrics.tags.a; return 'd'; } }) ;; Object.keys(exec.vu.metrics.tags).includes('c')",
    ),
];

#[test]
fn arguments_may_be_made_by_code_that_waits() {
    for (what, body) in GETTERS {
        let (body, last) = body.rsplit_once(" ;; ").unwrap_or(("", body));
        let script = format!("{body}; const said = {last}; console.log(String(said));");
        lab(&script, "", true).vus(2, 2).both(|report| {
            let said = report.said();
            assert!(report.stop.is_none() && said.len() == report.lines.len(), "{what}: {report:#?}");
            assert!(said.len() == 4 && said.iter().all(|line| *line == said[0]), "{what}: {report:#?}");
            assert!(!said[0].contains("internal error"), "{what}: {report:#?}");
        });
    }
}

/// What keeps more than a VU may have. `keep` is an array.
const HOARDS: &[(&str, &str)] = &[
    ("responses", "for (;;) keep.push(http.get(URL_OF('/bytes/1000000')));"),
    ("request bodies", "for (;;) keep.push(http.post(URL_OF('/status/204'), MB));"),
    ("request bodies, asynchronous", "for (;;) keep.push(await http.asyncRequest('POST', URL_OF('/status/204'), MB));"),
    ("a batch", "http.batch(Array(1000).fill(['POST', URL_OF('/status/204'), MB]));"),
    ("a form", "http.post(URL_OF('/status/204'), { a: Array(1000).fill(MB) });"),
    ("an endless form", "http.post(URL_OF('/status/204'), { a: new Array(4e9) });"),
    (
        "parts of a form",
        "const form = { file: http.file('x', 'y') }; for (let i = 0; i < 1000; i++) form[i] = MB; http.post(URL_OF('/status/204'), form);",
    ),
    (
        "messages of ws",
        "ws.connect(WS('/ws/count?count=1500&bytes=10000'), {}, (socket) => socket.on('message', (text) => keep.push(text, new Uint8Array(10000))));",
    ),
    (
        "messages of websockets",
        "await new Promise((done) => { new WebSocket(WS('/ws/count?count=1500&bytes=10000')).onmessage = ({ data }) => keep.push(data, new Uint8Array(10000)); });",
    ),
    ("blobs", "for (;;) keep.push(new Blob([MB]));"),
    (
        "messages of grpc",
        "connected(client); for (;;) keep.push(client.invoke('target.Echo/Long', { value: 1000000 }));",
    ),
    (
        "a stream of grpc",
        "await new Promise((done) => { const s = new grpc.Stream(connected(client), 'target.Flow/Mirror'); s.on('data', (m) => { keep.push(m); s.write(m); }); s.write({ text: MB }); });",
    ),
    ("a message of grpc", "connected(client).invoke('target.Echo/All', { texts: Array(1000).fill(MB) });"),
    ("replies of redis", "for (;;) keep.push(await db.get('a'), new Uint8Array(100000));"),
    ("commands of redis", "for (;;) keep.push(db.set('a', MB));"),
    ("a command of redis", "db.sendCommand('a', ...Array(1000).fill(MB));"),
    ("rows", "for (;;) keep.push(...(await csv.parse(file)).map((row) => [...row, MB + keep.length]));"),
    (
        "buffers of files",
        "for (;;) { const buffer = new Uint8Array(100000); await file.read(buffer); keep.push(buffer); }",
    ),
    (
        "chunks of streams",
        "const stream = new ReadableStream({ start: (controller) => { for (;;) controller.enqueue(MB + keep.length++); } });",
    ),
    ("keys", "for (;;) keep.push(await subtle.generateKey({ name: 'AES-CBC', length: 256 }, true, ['encrypt']));"),
    (
        "ciphertexts",
        "const key = await subtle.generateKey({ name: 'AES-CBC', length: 256 }, true, ['encrypt']); for (;;) keep.push(await subtle.encrypt({ name: 'AES-CBC', iv: new Uint8Array(16) }, key, new Uint8Array(100000)));",
    ),
    ("pages", "for (;;) keep.push(parseHTML('<p>a</p>'.repeat(10000)));"),
    ("hashers", "for (;;) keep.push(k6crypto.createHash('sha512'));"),
];

#[test]
fn what_a_script_hoards_counts() {
    for (what, body) in HOARDS {
        lab(&format!("const keep = []; if (__ITER > 0) return console.log('alive', pause()); {body} console.log('kept', keep.length);"), "", true)
            .vus(1, 2)
            .memory_limit(24 << 20)
            .both(|report| ran_out(what, report));
    }
}

fn ran_out(what: &str, report: &Report) {
    assert!(report.level("error").iter().any(|line| line.contains("memory")), "{what}: {report:#?}");
    assert_eq!(report.said(), ["alive 200"], "{what}: {report:#?}");
}

/// A socket that is still dialled when its iteration fails refers to itself: nothing of it may stay.
#[test]
fn sockets_that_were_never_open_leave_nothing() {
    let body = "const big = new Uint8Array(4 << 20); const socket = new WebSocket(WS('/ws/echo?delay_ms=60000')); socket.onopen = () => big.length; setTimeout(() => { throw new Error('on purpose'); }, 1);";
    lab(body, "", false).vus(1, 20).memory_limit(24 << 20).both(|report| {
        let errors = report.level("error");
        assert!(errors.len() == 20 && errors.iter().all(|line| line.contains("on purpose")), "{report:#?}");
    });
}
