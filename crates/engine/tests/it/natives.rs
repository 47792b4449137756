//! Natives and what they are handed: names that servers choose, script code that waits in the middle, odd arguments.

use onrush_session::ExitCode;

use crate::harness::case;

/// Objects that list what a server sent have its names as their own, whatever objects inherit.
#[test]
fn inherited_names_are_names() {
    case(
        "import http from 'k6/http';
         const url = `http://${__ENV.TARGET}/cookies/set?constructor=1&toString=2&__proto__=3`;
         export default function () {
           const { cookies } = http.get(url, { redirects: 0 });
           const own = (object) => Object.keys(object).sort().join();
           console.log(own(cookies), cookies.constructor[0].value);
           const jar = http.cookieJar().cookiesForURL(url);
           console.log(own(jar), jar.toString[0]);
           const sent = http.get(`http://${__ENV.TARGET}/get`, { headers: { constructor: 'x' } }).request;
           console.log(own(sent.cookies), sent.headers.Constructor[0]);
           console.log(typeof Object.prototype.constructor, Object.prototype[0]);
         }",
    )
    .both(|report| {
        let names = "__proto__,constructor,toString";
        assert_eq!(
            report.said(),
            [format!("{names} 1"), format!("{names} 2"), format!("{names} x"), "function undefined".to_owned()],
            "{report:#?}"
        );
    });
}

/// A VU that waits within `add` holds nothing that another VU needs to begin.
#[test]
fn metrics_are_declared_while_another_vu_waits_in_one() {
    case(
        "import { Trend } from 'k6/metrics'; import { sleep } from 'k6';
         const trend = new Trend('own');
         export const options = { scenarios: { growing: {
           executor: 'constant-arrival-rate', rate: 10, timeUnit: '1s', duration: '1s', preAllocatedVUs: 1, maxVUs: 4,
         } } };
         export default function () {
           trend.add({ valueOf() { sleep(0.3); return 1; } });
           trend.add(1, { get tag() { sleep(0.1); return 'x'; } });
           trend.add({ valueOf() { sleep(0.1); return NaN; }, toString() { sleep(0.1); return 'none'; } });
         }",
    )
    .both(|report| {
        let failed = report.lines.iter().find(|line| line.contains("internal error") || line.contains("level=error"));
        assert_eq!(failed, None, "{report:#?}");
        assert!(report.iterations() > 1.0, "{report:#?}");
    });
}

#[test]
fn sleeps_that_fit_no_duration_have_passed() {
    case(
        "import { sleep } from 'k6';
         export default function () { for (const seconds of [Infinity, 1e10, -Infinity, NaN, -1, 0]) sleep(seconds); console.log('awake'); }",
    )
    .both(|report| assert_eq!(report.said(), ["awake"], "{report:#?}"));
}

#[test]
fn url_templates_are_checked_and_shown() {
    case(
        "import http from 'k6/http';
         export default function () {
           const url = http.url`http://u:p@h/${1}/x`;
           console.log(JSON.stringify(url));
           console.log(url.name, url.url, url.clean_url, { ...url }.name);
           try { http.url`http://user:pw@[bad/${1}`; } catch (e) { console.log(e.name, e.message); }
         }",
    )
    .both(|report| {
        assert_eq!(
            report.said(),
            [
                "{\"name\":\"http://u:p@h/${}/x\",\"url\":\"http://u:p@h/1/x\",\"clean_url\":\"http://****:****@h/1/x\"}",
                "http://u:p@h/${}/x http://u:p@h/1/x http://****:****@h/1/x http://u:p@h/${}/x",
                "GoError invalid URL: parse \"http://****:****@[bad/1\": missing ']' in host",
            ],
            "{report:#?}"
        );
    });
}

#[test]
fn invalid_urls_have_an_empty_body_and_no_password_in_the_log() {
    case(
        "import http from 'k6/http';
         export default function () {
           const r = http.get('http://user:pw@[bad/');
           console.log(JSON.stringify(r.body), r.status, r.error_code, r.request);
           try { r.json(); } catch (e) { console.log(e.message); }
         }",
    )
    .both(|report| {
        let said = report.said();
        assert_eq!(said[0], "\"\" 0 1020 null", "{report:#?}");
        assert!(said[1].contains("unexpected end of JSON input"), "{report:#?}");
        assert!(report.lines.iter().any(|line| line.contains("****:****@[bad")), "{report:#?}");
        assert!(!report.lines.iter().any(|line| line.contains("pw")), "{report:#?}");
    });
}

/// Credentials in a `Location` are used although the script's own header was left behind on the way there.
#[test]
fn credentials_of_a_redirect_replace_a_header_that_was_stripped() {
    case(
        "import http from 'k6/http';
         export default function () {
           const other = `http://user:pass@${__ENV.TARGET.replace('127.0.0.1', 'localhost')}/headers`;
           const r = http.get(`http://${__ENV.TARGET}/redirect-to?url=${encodeURIComponent(other)}`, { headers: { Authorization: 'own' } });
           console.log(r.json('headers.Authorization') || JSON.stringify(r.json()));
         }",
    )
    .both(|report| assert_eq!(report.said(), ["Basic dXNlcjpwYXNz"], "{report:#?}"));
}

#[test]
fn consoles_show_texts_and_bytes_as_they_are() {
    case(
        r#"export default function () {
           console.log({ a: 'x "q" \\', b: ['"'] });
           console.log(new Uint8Array(102).buffer);
         }"#,
    )
    .both(|report| {
        let bytes = ["00"; 102].join(" ");
        assert_eq!(
            report.said(),
            [
                "{ a: \"x \"q\" \\\", b: [ \"\"\" ] }".to_owned(),
                format!("ArrayBuffer {{ [Uint8Contents]: <{bytes}>, byteLength: 102 }}")
            ],
            "{report:#?}"
        );
    });
}

#[test]
fn data_keys_are_written_as_in_go() {
    case(
        "import { parseHTML } from 'k6/html';
         export default function () {
           const div = parseHTML('<div data-id=1 data-test-id=2 data-api-url-x=3 data-two-words=4></div>').find('div');
           console.log(Object.keys(div.data()).sort().join());
           console.log(...['id', 'test-id', 'testId', 'testID', 'apiURLX', 'apiUrlX', 'twoWords', 'none'].map((key) => div.data(key)));
         }",
    )
    .both(|report| {
        assert_eq!(report.said(), ["apiURLX,id,testID,twoWords", "1 2 2 2 3 3 4 undefined"], "{report:#?}");
    });
}

/// Methods belong to each Response: a copy has them, and so has who keeps only one of them.
#[test]
fn methods_of_responses_work_on_copies() {
    case(
        "import http from 'k6/http';
         export default function () {
           const res = http.get(`http://${__ENV.TARGET}/get?n=1`);
           const copy = { ...res, status: 7 };
           const { json } = Object.assign({}, res);
           console.log(copy.status, copy.json('args.n'), json('args').n, copy.html().text() === res.html().text());
           console.log(res.json.call({}) === undefined, res.json === res.json, res.json.name, Object.hasOwn(res, 'html'));
           console.log(Object.keys(res).slice(-4).join(), Object.keys(JSON.parse(JSON.stringify(res))).includes('json'));
           let failed = ''; try { copy.clickLink(); } catch (e) { failed = e.message; } console.log(failed !== '' && !failed.includes('this is not'));
           // What keeps the data is the function, not the Response.
           const kept = []; for (let i = 0; i < 50; i++) kept.push(http.get(`http://${__ENV.TARGET}/get?n=1`).json);
           console.log(kept.every((json) => typeof json() === 'object'));
         }",
    )
    .both(|report| {
        assert_eq!(
            report.said(),
            ["7 1 1 true", "false true json true", "clickLink,html,json,submitForm false", "true", "true"],
            "{report:#?}"
        );
    });
}

/// Parameters that are spelled out are read once, and are those of the objects that have this content, never of one that is
/// a little different, whatever was asked for before.
#[test]
fn parameters_that_are_nearly_the_same_are_told_apart() {
    case(
        "import http from 'k6/http';
         const url = `http://${__ENV.TARGET}/anything`;
         const long = 'x'.repeat(65), name = 'Y'.repeat(2000);
         const make = [
           () => ({ headers: { A: '1', B: '2' } }),
           () => ({ headers: { B: '2', A: '1' } }),
           () => ({ headers: { A: '12' } }),
           () => ({ headers: { A: '1', B: '' } }),
           () => ({ headers: { A: 1, B: true } }),
           () => ({ headers: { A: 1, B: false } }),
           () => ({ headers: { A: -1, B: null } }),
           () => ({ headers: { A: '-1', B: undefined } }),
           () => ({ headers: { A: 1.5 } }),
           () => ({ headers: { A: 'text/plain' } }),
           () => ({ headers: { A: 'text/pla\\u00ef' } }),
           () => ({ headers: { A: 'text/pla\\u0131n' } }),
           () => ({ headers: { A: long } }),
           () => ({ headers: { A: long + '' } }),
           () => ({ headers: { A: `${long}y` } }),
           () => ({ headers: { [name]: 'z' } }),
           () => ({ headers: { 7: 'index', A: 'after' } }),
           () => ({ headers: { get A() { return 'got'; } } }),
           () => ({ headers: Object.defineProperty({ B: '3' }, 'A', { value: 'hidden' }) }),
           () => ({ headers: Object.create({ A: 'inherited' }) }),
           () => { const given = { headers: { A: '1', B: '2' } }; delete given.headers.B; return given; },
           () => { const given = { headers: { A: '1', B: '2' } }; given.headers.A = `n${__ITER}`; return given; },
           () => ({ headers: { A: '1', [Symbol('B')]: '2' } }),
           () => ({ cookies: { A: '1' } }),
           () => ({ cookies: { A: { value: '1', replace: true } } }),
           () => ({ cookies: { A: { value: '1', replace: false } } }),
           () => ({ cookies: { A: ['1'] } }),
           () => ({ headers: { A: '1' }, cookies: {} }),
           () => ({ headers: {}, A: '1' }),
           () => ({}),
           () => ({ headers: { A: '1', 'Content-Type': 'own' } }),
         ];
         const asked = (request) => JSON.stringify([request.headers, request.cookies]);
         export default function () {
           // Nothing is remembered of what a proxy hands out: this is what each of them means.
           const plain = (given) => new Proxy(given, {});
           const expected = make.map((each) => asked(http.get(url, plain(each())).request));
           const posted = make.map((each) => asked(http.post(url, { a: 1 }, plain(each())).request));
           for (let round = 0; round < 4; round++) {
             for (const [at, each] of make.entries()) {
               const got = asked(http.get(url, each()).request);
               if (got !== expected[at]) console.log(round, each, got, expected[at]);
               const response = http.post(url, { a: 1 }, each());
               if (asked(response.request) !== posted[at]) console.log(round, each, asked(response.request), posted[at]);
               if (response.request.body !== 'a=1') console.log(round, each, response.request.body);
             }
           }
           console.log(new Set(expected).size, make.length);
         }",
    )
    .vus(2, 4)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["22 31"; 8], "{report:#?}");
    });
}

/// What one VU spelled out is used by others and after it, with the tags that each has itself.
#[test]
fn parameters_of_one_vu_are_used_with_the_tags_of_others() {
    case(
        "import http from 'k6/http'; import exec from 'k6/execution'; import { group } from 'k6';
         export default function () {
           exec.vu.metrics.tags.own = `v${__VU}`;
           for (let round = 0; round < 4; round++) {
             group(`g${round % 2}`, () => http.get(`http://${__ENV.TARGET}/get`, { tags: { kind: 'a', name: 'named' } }));
             http.get(`http://${__ENV.TARGET}/get`, { tags: { kind: 'b' } });
           }
         }",
    )
    .options(
        r#"{ "thresholds": {
             "http_reqs{kind:a}": ["count==16"], "http_reqs{kind:b}": ["count==16"],
             "http_reqs{own:v1,kind:a}": ["count==8"], "http_reqs{own:v2,kind:b}": ["count==8"],
             "http_reqs{group:::g0,kind:a,name:named}": ["count==8"], "http_reqs{group:::g1,own:v2}": ["count==4"],
             "http_reqs{group:,kind:b}": ["count==16"], "http_reqs{group:,kind:a}": ["count==0"],
             "http_reqs{own:v1}": ["count==16"], "http_reqs{name:named}": ["count==16"] } }"#,
    )
    .vus(2, 4)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.exit, ExitCode::Success, "{report:#?}");
    });
}
