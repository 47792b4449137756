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
