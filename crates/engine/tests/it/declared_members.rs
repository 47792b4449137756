//! Members of objects beside what k6's type declarations promise, both ways. `declared_members.txt` has the declarations.

use std::collections::{BTreeMap, BTreeSet};

use crate::harness::case;

/// Where scripts get an object of each declared class, interface or exported object.
const OBJECTS: &[(&str, &str)] = &[
    ("k6/crypto Hasher", "crypto.createHash('md5')"),
    ("k6/execution instance", "exec.instance"),
    ("k6/execution scenario", "exec.scenario"),
    ("k6/execution test", "exec.test"),
    ("k6/execution vu", "exec.vu"),
    ("k6/experimental/csv Parser", "parser"),
    ("k6/experimental/fs File", "file"),
    ("k6/experimental/fs FileInfo", "await file.stat()"),
    ("k6/experimental/redis Client", "new redis.Client('redis://127.0.0.1:1')"),
    ("k6/experimental/streams CountQueuingStrategy", "new streams.CountQueuingStrategy({ highWaterMark: 1 })"),
    ("k6/experimental/streams ReadableStream", "new streams.ReadableStream()"),
    (
        "k6/experimental/streams ReadableStreamDefaultController",
        "(() => { let kept; new streams.ReadableStream({ start: (controller) => { kept = controller; } }); return kept; })()",
    ),
    ("k6/experimental/streams ReadableStreamDefaultReader", "new streams.ReadableStream().getReader()"),
    ("k6/html Attribute", "html.parseHTML('<p id=a>').find('p').get(0).attributes().id"),
    ("k6/html Selection", "html.parseHTML('<p>')"),
    ("k6/html FormValue", "html.parseHTML('<form><input name=a value=b></form>').find('form').serializeArray()[0]"),
    ("k6/http CookieJar", "new http.CookieJar()"),
    ("k6/http FileData", "http.file('a')"),
    ("k6/http Response", "response"),
    ("k6/http RefinedResponse", "response"),
    ("k6/http ResponseCookie", "response.cookies.a[0]"),
    ("k6/metrics Counter", "counter"),
    ("k6/metrics Gauge", "gauge"),
    ("k6/metrics Rate", "rate"),
    ("k6/metrics Trend", "trend"),
    ("k6/net/grpc Client", "new grpc.Client()"),
    ("k6/net/grpc Stream", "grpc.Stream.prototype"),
    ("k6/secrets SecretSource", "secrets"),
    ("k6/websockets Blob", "new Blob(['a'])"),
    ("k6/websockets WebSocket", "socket"),
    ("k6/websockets MessageEvent", "events.message"),
    ("k6/websockets ErrorEvent", "events.error"),
    ("k6/ws Response", "legacy.response"),
    ("k6/ws Socket", "legacy.socket"),
    ("k6/ws WebSocketError", "legacy.error"),
];

/// What is handed to functions: nothing of it comes from us. And types that only others extend.
const HANDED_IN: &[&str] = &[
    "k6/experimental/csv Options",
    "k6/experimental/redis ClusterOptions",
    "k6/experimental/redis RedisClientOptions",
    "k6/experimental/redis SocketOptions",
    "k6/experimental/redis TLSOptions",
    "k6/experimental/streams QueuingStrategy",
    "k6/experimental/streams UnderlyingSource",
    "k6/http CookieOptions",
    "k6/http ExpectedStatusesObject",
    "k6/http ObjectBatchRequest",
    "k6/http ObjectRefinedBatchRequest",
    "k6/http Params",
    "k6/http RefinedParams",
    "k6/http RequestCookie",
    "k6/metrics Metric",
    "k6/net/grpc ConnectParams",
    "k6/net/grpc Params",
    "k6/net/grpc TLSParams",
    "k6/websockets BlobOptions",
    "k6/websockets Params",
    "k6/ws Params",
];

/// Seen by the tests of gRPC, which have a server: plain objects made where the answer comes.
const ELSEWHERE: &[&str] = &[
    "k6/net/grpc GrpcError",
    "k6/net/grpc HealthCheckResponse",
    "k6/net/grpc Response",
    "k6/net/grpc StreamMessageMetadata",
];

/// Declared, and missing in k6 as well.
const NOT_IN_K6: &[&str] =
    &["k6/html Attribute ownerElement", "k6/http ResponseCookie httpOnly", "k6/http ResponseCookie maxAge"];

/// Here as in k6, and not declared.
const UNDECLARED: &[&str] = &[
    "k6/experimental/redis Client isConnected",
    "k6/experimental/redis Client sendCommand",
    "k6/experimental/streams ReadableStream locked",
    "k6/experimental/streams ReadableStream tee",
    "k6/experimental/streams ReadableStreamDefaultController desiredSize",
    "k6/experimental/streams ReadableStreamDefaultReader closed",
    "k6/html Selection add",
    "k6/html Selection end",
    "k6/html Selection index",
    "k6/html Selection siblings",
    "k6/html Selection url",
    "k6/http ResponseCookie http_only",
    "k6/http ResponseCookie max_age",
    "k6/secrets SecretSource source",
    "k6/websockets ErrorEvent target",
    "k6/websockets MessageEvent origin",
    "k6/websockets MessageEvent target",
    "k6/websockets WebSocket extensions",
    "k6/websockets WebSocket protocol",
    "k6/ws WebSocketError code",
    "k6/ws WebSocketError text",
    // Go's errors become text by themselves.
    "k6/ws WebSocketError toString",
];

const SCRIPT: &str = r"
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
import crypto from 'k6/crypto';
import exec from 'k6/execution';
import csv from 'k6/experimental/csv';
import fs from 'k6/experimental/fs';
import grpc from 'k6/net/grpc';
import html from 'k6/html';
import http from 'k6/http';
import redis from 'k6/experimental/redis';
import secrets from 'k6/secrets';
import streams from 'k6/experimental/streams';
import ws from 'k6/ws';
import { Blob, WebSocket } from 'k6/websockets';

const [counter, gauge, rate, trend] = [new Counter('a_counter'), new Gauge('a_gauge'), new Rate('a_rate'), new Trend('a_trend')];
const file = await fs.open('./data.csv');
const parser = new csv.Parser(file);

function members(object) {
  const names = new Set();
  for (let at = object; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    Object.getOwnPropertyNames(at).forEach((name) => names.add(name));
  }
  names.delete('constructor');
  return [...names].join(' ');
}

function sockets() {
  return new Promise((resolve) => {
    const events = {};
    const socket = new WebSocket(`ws://${__ENV.TARGET}/ws/echo`);
    socket.onopen = () => socket.send('a');
    socket.onmessage = (event) => { events.message = event; socket.close(); };
    socket.onclose = () => {
      const refused = new WebSocket('ws://127.0.0.1:1/');
      refused.onerror = (event) => { events.error = event; };
      refused.onclose = () => resolve([socket, events]);
    };
  });
}

function session() {
  const legacy = {};
  legacy.response = ws.connect(`ws://${__ENV.TARGET}/ws/close?code=1011`, (socket) => {
    legacy.socket = socket;
    socket.on('error', (error) => { legacy.error = error; });
  });
  return legacy;
}

export default async function () {
  const response = http.get(`http://${__ENV.TARGET}/cookies/set?a=b`, { redirects: 0 });
  const [socket, events] = await sockets();
  const legacy = session();
";

/// The classes of elements, and the tags that have them.
fn element(class: &str) -> Option<String> {
    let class = class.strip_suffix("Element")?;
    let tag = match class {
        "" | "Href" | "FormField" | "Mod" | "Media" | "TableSection" | "TableCell" => {
            let tag = match class {
                "" => "p",
                "Href" => "a",
                "FormField" => "input",
                "Mod" => "ins",
                "Media" => "audio",
                "TableSection" => "tbody",
                _ => "td",
            };
            tag.to_owned()
        }
        "Anchor" => "a".to_owned(),
        "Image" => "img".to_owned(),
        "OList" => "ol".to_owned(),
        "UList" => "ul".to_owned(),
        "Quote" => "blockquote".to_owned(),
        "TableBody" => "tbody".to_owned(),
        "TableCol" => "col".to_owned(),
        "TableDataCell" => "td".to_owned(),
        "TableFoot" => "tfoot".to_owned(),
        "TableHead" => "thead".to_owned(),
        "TableHeaderCell" => "th".to_owned(),
        "TableRow" => "tr".to_owned(),
        other => other.to_lowercase(),
    };
    let open = match tag.as_str() {
        "tbody" | "td" | "th" | "tr" | "tfoot" | "thead" | "col" => {
            "<table><colgroup><col></colgroup><thead><tr><th></th></tr></thead><tfoot></tfoot><tbody><tr><td></td></tr></tbody></table>".to_owned()
        }
        "li" => "<ul><li></li></ul>".to_owned(),
        "option" | "optgroup" => "<select><optgroup><option></option></optgroup></select>".to_owned(),
        "legend" => "<form><fieldset><legend></legend></fieldset></form>".to_owned(),
        tag => format!("<{tag}></{tag}>"),
    };
    Some(format!("html.parseHTML('{open}').find('{tag}').get(0)"))
}

#[test]
fn objects_have_the_members_that_are_declared() {
    let declared = declared();
    let objects: BTreeMap<&str, &str> = OBJECTS.iter().copied().collect();
    let mut body = String::new();
    let mut expected = BTreeSet::new();
    let mut unknown = Vec::new();
    for (name, members) in &declared {
        let element = name.strip_prefix("k6/html ").and_then(element);
        let expression = match (objects.get(name.as_str()), element) {
            (Some(expression), _) => (*expression).to_owned(),
            (None, Some(element)) => element,
            (None, None) if HANDED_IN.iter().chain(ELSEWHERE).any(|known| known == name) => continue,
            // The type of a function, or of any object.
            (None, None) if members.is_empty() => continue,
            (None, None) => {
                unknown.push(name);
                continue;
            }
        };
        body.push_str(&format!("  console.log(`{name}: ${{members({expression})}}`);\n"));
        expected.extend(members.iter().map(|member| format!("{name} {member}")));
    }
    assert!(unknown.is_empty(), "neither in OBJECTS nor handed in: {unknown:?}");
    case(&format!("{SCRIPT}{body}}}")).file("data.csv", "a,b\n").both(|report| {
        report.assert_clean();
        let found: BTreeSet<String> = report
            .said()
            .into_iter()
            .filter_map(|line| line.split_once(": "))
            .flat_map(|(name, members)| members.split(' ').map(move |member| format!("{name} {member}")))
            .collect();
        let missing: Vec<_> = expected.difference(&found).map(String::as_str).collect();
        // The declarations have few of the attributes of HTML elements; conformance/html has them all.
        let more: Vec<_> = found
            .difference(&expected)
            .map(String::as_str)
            .filter(|name| !name.starts_with("k6/html ") || name.starts_with("k6/html Selection"))
            .collect();
        assert_eq!((missing.as_slice(), more.as_slice()), (NOT_IN_K6, UNDECLARED));
    });
}

/// The declared members by module and name, with those of what they extend.
fn declared() -> BTreeMap<String, BTreeSet<&'static str>> {
    // What a type extends, and its own members.
    type Declared = (Option<&'static str>, BTreeSet<&'static str>);
    let mut own: BTreeMap<(&str, &str), Declared> = BTreeMap::new();
    for line in include_str!("declared_members.txt").lines().filter(|line| !line.starts_with('#')) {
        let (head, members) = line.split_once(':').expect("a line has a head");
        let mut head = head.split(' ');
        let (module, _, name) = (head.next().expect("a module"), head.next(), head.next().expect("a name"));
        let base = head.nth(1);
        own.insert((module, name), (base, members.split_whitespace().collect()));
    }
    own.keys()
        .map(|(module, name)| {
            let mut all = BTreeSet::new();
            let mut at = Some(*name);
            while let Some((base, members)) = at.and_then(|name| own.get(&(*module, name))) {
                all.extend(members.iter().copied());
                at = *base;
            }
            (format!("{module} {name}"), all)
        })
        .collect()
}
