//! `--traces-output`: a span for each request and iteration, and the headers that let the system under test go on with the trace.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use onrush_testkit::{
    GoodServer, Reply,
    otlp::{Mood, OtlpReceiver, SpanSeen},
};

use crate::program::{Done, Program};

/// What was asked for, and its headers.
type Head = (String, BTreeMap<String, String>);

/// A server that keeps the heads it read.
struct Site {
    server: GoodServer,
    seen: Arc<Mutex<Vec<Head>>>,
}

impl Site {
    fn start() -> Self {
        let seen: Arc<Mutex<Vec<_>>> = Arc::default();
        let own = seen.clone();
        let server = GoodServer::start(move |request| {
            let headers = request.headers.iter().map(|(name, value)| (name.to_lowercase(), value.clone()));
            own.lock().expect("no panic").push((request.target.clone(), headers.collect()));
            match request.target.as_str() {
                "/moved" => Reply::redirect(302, "/there"),
                "/missing" => Reply::status(404),
                _ => Reply::text("hello"),
            }
        });
        Self { server, seen }
    }

    fn seen(&self) -> Vec<Head> {
        self.seen.lock().expect("no panic").clone()
    }
}

fn run(site: &Site, output: &str, flags: &[&str], script: &str) -> Done {
    let url = format!("URL={}", site.server.url(""));
    let flags = [&["-q", "-e", &url, "--traces-output", output], flags].concat();
    Program::script(&flags, script).run()
}

const SCRIPT: &str = "
    import http from 'k6/http';
    export const options = { vus: 2, iterations: 10 };
    const url = __ENV.URL;
    export function setup() { http.get(`${url}/setup`); }
    export default function () {
        http.get(`${url}/moved`, { tags: { name: 'the move' } });
        http.batch([`${url}/a`, ['POST', `${url}/missing`, 'x']]);
        http.get(http.url`${url}/item/${__ITER}`);
        http.get('http://127.0.0.1:1/refused');
    }";

#[test]
fn each_request_has_a_span() {
    for (is_grpc, agents) in [(true, &[][..]), (false, &["--agents", "2"])] {
        let site = Site::start();
        let receiver = if is_grpc { OtlpReceiver::grpc(None) } else { OtlpReceiver::http(None) };
        let output = match is_grpc {
            true => format!("otel={}", receiver.addr()),
            false => format!("otel=http://{},header.x-token=abc", receiver.addr()),
        };
        run(&site, &output, agents, SCRIPT).expect(0);
        assert_eq!(receiver.problems(), Vec::<String>::new());
        let spans = receiver.spans();
        let of = |name: &str| spans.iter().filter(|span| span.name == name).collect::<Vec<&SpanSeen>>();
        // A redirect is two requests.
        let counts = [("iteration", 10), ("GET the move", 20), ("POST", 10), ("GET", 21)];
        for (name, count) in counts {
            assert_eq!(of(name).len(), count, "{name}: {:?}", spans.iter().map(|span| &span.name).collect::<Vec<_>>());
        }
        assert_eq!(spans.len(), 71);
        assert_eq!(spans.iter().map(|span| &span.id).collect::<BTreeSet<_>>().len(), 71);
        // An iteration is a trace, a request of setup() as well.
        assert_eq!(spans.iter().map(|span| &span.trace).collect::<BTreeSet<_>>().len(), 11);
        let roots: BTreeMap<&str, &SpanSeen> =
            of("iteration").into_iter().map(|span| (span.trace.as_str(), span)).collect();
        for span in spans
            .iter()
            .filter(|span| span.name != "iteration" && span.attribute("url.full") != Some(&site.server.url("/setup")))
        {
            let root = roots[span.trace.as_str()];
            assert_eq!((span.kind, &span.parent), (3, &root.id));
            assert!(span.start_ns >= root.start_ns && span.end_ns <= root.end_ns, "{span:?} in {root:?}");
            assert_eq!(span.attribute("test.vu"), root.attribute("test.vu"));
            assert_eq!(span.attribute("test.iteration.number"), root.attribute("test.iteration.number"));
            assert_eq!(span.attribute("test.scenario"), Some("default"));
        }
        // What the server got is what was told.
        let told: BTreeSet<String> = spans.iter().map(|span| format!("00-{}-{}-01", span.trace, span.id)).collect();
        let seen = site.seen();
        assert_eq!(seen.len(), 51);
        for (target, headers) in &seen {
            assert!(told.contains(headers["traceparent"].as_str()), "{target} {headers:?}");
        }
        let post = of("POST")[0];
        let expect = [
            ("http.request.method", "POST"),
            ("url.full", &site.server.url("/missing")),
            ("server.address", "127.0.0.1"),
            ("server.port", &site.server.addr().port().to_string()),
            ("http.response.status_code", "404"),
            ("network.protocol.version", "1.1"),
            ("network.peer.address", "127.0.0.1"),
            ("error.type", "1404"),
        ];
        for (name, value) in expect {
            assert_eq!(post.attribute(name), Some(value), "{post:?}");
        }
        assert_eq!(post.status, 2);
        let refused = spans.iter().find(|span| span.attribute("error.type") == Some("1212")).expect("refused");
        assert!(refused.message.contains("connection refused"), "{refused:?}");
        if !is_grpc {
            assert!(receiver.headers().contains(&("X-Token".to_owned(), "abc".to_owned())), "{:?}", receiver.headers());
        }
    }
}

#[test]
fn a_template_names_the_span() {
    let (site, receiver) = (Site::start(), OtlpReceiver::http(None));
    let script = "
        import http from 'k6/http';
        export default function () { http.get(http.url`${__ENV.URL}/item/${7}`); }";
    run(&site, &format!("otel=http://{}", receiver.addr()), &[], script).expect(0);
    let names: Vec<String> = receiver.spans().into_iter().map(|span| span.name).collect();
    assert!(
        names.contains(&format!("GET {}/item/${{}}", site.server.url("")))
            || names.iter().any(|name| name.starts_with("GET ${}/item/")),
        "{names:?}"
    );
}

#[test]
fn a_part_of_iterations_is_traced() {
    let (site, receiver) = (Site::start(), OtlpReceiver::http(None));
    let script = "
        import http from 'k6/http';
        export const options = { vus: 5, iterations: 400 };
        export default function () { http.get(`${__ENV.URL}/a`); http.get(`${__ENV.URL}/b`); }";
    run(&site, &format!("otel=http://{},sampling=0.25,propagator=b3", receiver.addr()), &[], script).expect(0);
    let sampled: Vec<_> = site.seen().into_iter().map(|(_, headers)| headers["b3"].ends_with("-1")).collect();
    let count = sampled.iter().filter(|is_sampled| **is_sampled).count();
    // Seven standard deviations of 200 of 800.
    assert!((80..=320).contains(&count) && count % 2 == 0, "{count}");
    assert_eq!(receiver.spans().len(), count + count / 2);
}

/// As the library for Tempo does it: it replaces members of the module's object, and sets a header.
#[test]
fn what_a_script_traces_by_itself_stays_its_own() {
    let (site, receiver) = (Site::start(), OtlpReceiver::http(None));
    let script = "
        import http from 'k6/http';
        import exec from 'k6/execution';
        const get = http.get;
        http.get = (url, params = {}) => {
            const flag = __ITER % 2 ? '00' : '01';
            const header = `00-dc0718000000000000000000000000a${__ITER}-00000000000000b${__ITER}-${flag}`;
            exec.vu.metrics.metadata.trace_id = `a${__ITER}`;
            const response = get(url, { ...params, headers: { ...params.headers, traceparent: header } });
            delete exec.vu.metrics.metadata.trace_id;
            return response;
        };
        export const options = { vus: 1, iterations: 4 };
        export default function () { http.get(`${__ENV.URL}/moved`); }";
    run(&site, &format!("otel=http://{}", receiver.addr()), &[], script).expect(0);
    let seen = site.seen();
    for (index, (_, headers)) in seen.iter().enumerate() {
        let (iteration, flag) = (index / 2, if index / 2 % 2 == 0 { "01" } else { "00" });
        let expect = format!("00-dc0718000000000000000000000000a{iteration}-00000000000000b{iteration}-{flag}");
        assert_eq!(headers["traceparent"], expect);
    }
    let spans = receiver.spans();
    // Two requests each of the iterations that the script traces: the second below the first. Nothing of ours is beside it.
    let ids: Vec<_> = spans
        .iter()
        .map(|span| (&span.trace[30..], &span.id[14..], &span.parent[span.parent.len().saturating_sub(2)..]))
        .collect();
    assert_eq!(spans.len(), 4, "{ids:?}");
    for pair in spans.chunks(2) {
        let [first, second] = pair else { panic!("{pair:?}") };
        assert!(first.id.starts_with("00000000000000b") && first.parent.is_empty(), "{first:?}");
        assert_eq!((&second.parent, &second.trace), (&first.id, &first.trace));
    }
}

#[test]
fn what_is_lost_is_counted() {
    let script = "
        import http from 'k6/http';
        export const options = { vus: 1, iterations: 10 };
        export default function () { http.get(`${__ENV.URL}/a`); }";
    let check = |mood: Mood, expect: &[&str]| {
        let (site, receiver) = (Site::start(), OtlpReceiver::http(None));
        receiver.set_mood(mood);
        let mut done = run(&site, &format!("otel=http://{}", receiver.addr()), &[], script).expect(0);
        for text in expect {
            done = done.expect_log(text);
        }
        done.expect_output("✓ measurement VALID");
    };
    check(
        Mood::Unavailable,
        &[
            "failed to send traces to ",
            "status 503: overloaded",
            "lacks spans: 20 were left when the run had ended; it has 0",
        ],
    );
    check(Mood::Refuses, &["lacks spans: 20 were not accepted; it has 0"]);
    check(Mood::LeavesOut(3), &["rejected 3 spans: old", "lacks spans: 3 were not accepted; it has 17"]);
}

#[test]
fn nothing_is_sent_where_nothing_is_wanted() {
    let site = Site::start();
    let script = "import http from 'k6/http'; export default function () { http.get(`${__ENV.URL}/a`); }";
    run(&site, "none", &[], script).expect(0);
    assert!(site.seen().iter().all(|(_, headers)| !headers.contains_key("traceparent")));
    let done = run(&site, "jaeger=x", &[], script).expect(104);
    done.expect_log(r#"invalid traces output \"jaeger\""#);
}
