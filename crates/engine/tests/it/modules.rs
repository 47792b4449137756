//! What recorded scripts cannot show: concurrency, tags, TLS, numbers.

use onrush_metrics::builtin;

use crate::harness::case;

#[test]
fn many_vus_request_at_once_over_two_threads() {
    case(
        "import http from 'k6/http'; import { check } from 'k6';
         export default function () { const r = http.get(`http://${__ENV.TARGET}/get?vu=${__VU}&i=${__ITER}`); check(r, { own: (r) => r.json('args.vu') === String(__VU) && r.json('args.i') === String(__ITER) }); }",
    )
    .vus(40, 10)
    .threads(2)
    .both(|report| {
        report.assert_clean();
        assert_eq!((report.count(builtin::HTTP_REQS), report.iterations()), (400.0, 400.0));
    });
}

#[test]
fn connections_are_kept_between_iterations() {
    case(
        "import http from 'k6/http';
         export default function () { const r = http.get(`http://${__ENV.TARGET}/f/10`); console.log(r.timings.connecting > 0, r.remote_port > 0); }",
    )
    .vus(1, 3)
    .both(|report| assert_eq!(report.said(), ["true true", "false true", "false true"], "{report:#?}"));
}

#[test]
fn batch_respects_its_limits() {
    case(
        "import http from 'k6/http';
         export const options = { batch: 4, batchPerHost: 2 };
         export default function () { const t = Date.now(); const r = http.batch(Array(6).fill(`http://${__ENV.TARGET}/delay/0.05`)); const d = Date.now() - t; console.log(r.length, d >= 145 && d < 2000, r.every((x) => x.status === 200)); }",
    )
    .both(|report| assert_eq!(report.said(), ["6 true true"], "{report:#?}"));
}

#[test]
fn rps_spaces_requests() {
    case(
        "import http from 'k6/http'; export const options = { rps: 50 };
         export default function () { const t = Date.now(); for (let i = 0; i < 6; i++) http.get(`http://${__ENV.TARGET}/f/10`); console.log(Date.now() - t >= 95); }",
    )
    .run()
    .assert_clean();
}

/// A file goes out as it is, whole or in part, raw or in a form, as bytes or as text.
#[test]
fn opened_files_are_sent() {
    let file: String = (0..20_000).map(|line| format!("{line}\n")).collect();
    case(
        "import http from 'k6/http';
         const bytes = open('big.txt', 'b'); const text = open('big.txt');
         const url = `http://${__ENV.TARGET}/post`;
         const same = (sent) => sent === text ? 'same' : `other: ${String(sent).length} of ${text.length}`;
         export default function () {
           console.log(same(http.post(url, bytes).json('data')), same(http.post(url, text).json('data')));
           console.log(http.post(url, new Uint8Array(bytes, 0, 6)).json('data') === text.slice(0, 6));
           const form = http.post(url, { a: 1, one: http.file(bytes, 'one.txt'), z: 'z', two: http.file(text, 'two.txt') });
           const files = form.json('files');
           console.log(files.one.size, files.two.size, JSON.stringify(form.json('form')));
           const sent = form.request.body;
           console.log(sent.split(text).length, sent.length > 2 * text.length, Object.keys(form.request).join());
           console.log(JSON.parse(JSON.stringify(form)).request.body === sent);
         }",
    )
    .file("big.txt", &file)
    .threads(2)
    .vus(2, 1)
    .both(|report| {
        report.assert_clean();
        let said = report.said_sorted();
        let expect = ["108890 108890 {\"a\":\"1\",\"z\":\"z\"}", "3 true method,url,headers,body,cookies", "same same", "true", "true"];
        assert_eq!(said, expect.iter().flat_map(|line| [*line; 2]).collect::<Vec<_>>());
    });
}
