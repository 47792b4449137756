//! `k6/experimental/fs`, `csv` and `streams`: several VUs, waiting within callbacks, limits, and the examples of their pages.

use crate::harness::{Report, case};

const USERS: &str = "name,city\nAnna,Bern\nBen,Oslo\n";

#[test]
fn each_vu_has_a_place_of_its_own_in_a_file() {
    case(
        "import fs from 'k6/experimental/fs'; import { sleep } from 'k6';
         const file = await fs.open('data.txt');
         export default async function () { const buffer = new Uint8Array(__VU); await file.read(buffer); sleep(0.01); console.log(__VU, __ITER, await file.seek(0, 1)); }",
    )
    .file("data.txt", "0123456789")
    .vus(3, 2)
    .threads(2)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said_sorted(), ["1 0 1", "1 1 2", "2 0 2", "2 1 4", "3 0 3", "3 1 6"]);
    });
}

/// k6 fills the whole buffer behind a view.
#[test]
fn read_fills_the_view_and_nothing_else() {
    case(
        "import fs from 'k6/experimental/fs';
         const file = await fs.open('data.txt'); const shared = open('data.txt', 'b');
         export default async function () {
           const buffer = new ArrayBuffer(8); const count = await file.read(new Uint8Array(buffer, 2, 3)); console.log(count, new Uint8Array(buffer).join());
           try { await file.read(new Uint8Array(shared)); } catch (error) { console.log(String(error), error instanceof Error); }
           const detached = new Uint8Array(4); detached.buffer.transfer(); console.log(await file.read(detached));
           console.log(String.fromCharCode(...new Uint8Array(shared)));
         }",
    )
    .file("data.txt", "0123456789")
    .both(|report| {
        report.assert_clean();
        let refused = "TypeError: read() failed; reason: into argument must be a Uint8Array that can be written to true";
        assert_eq!(report.said(), ["3 0,0,48,49,50,0,0,0", refused, "0", "0123456789"]);
    });
}

#[test]
fn a_file_that_only_a_vu_opens_is_refused() {
    let script =
        "import fs from 'k6/experimental/fs'; if (__VU > 0) await fs.open('data.txt'); export default function () {}";
    case(script).file("data.txt", "x").both(|report| {
        let stop = report.stop.as_deref().unwrap_or_default();
        assert!(stop.contains("path never requested before") && stop.contains("data.txt"), "{report:#?}");
    });
}

#[test]
fn a_table_is_shared_and_a_parser_is_not() {
    let rows: String = (0..1000).map(|row| format!("{row},\"value {row}\nof many\"\n")).collect();
    case(
        "import csv from 'k6/experimental/csv'; import fs from 'k6/experimental/fs';
         const file = await fs.open('data.csv'); const rows = await csv.parse(file); const parser = new csv.Parser(file, { fromLine: 990 });
         export default async function () { const [a, b] = [rows[__VU * 100], (await parser.next()).value]; console.log(__VU, rows.length, a[0], a[1], b[0]); }",
    )
    .file("data.csv", &rows)
    .vus(4, 1)
    .threads(2)
    .both(|report| {
        report.assert_clean();
        let expect: Vec<_> = (1..5).map(|vu| format!("{vu} 1000 {vu}00 value {vu}00\nof many 990")).collect();
        assert_eq!(report.said_sorted(), expect);
    });
}

/// Reading a table once more for each iteration must not add up.
#[test]
fn a_table_read_in_an_iteration_is_the_vus_own() {
    case(
        "import csv from 'k6/experimental/csv'; import fs from 'k6/experimental/fs';
         const file = await fs.open('data.csv');
         export default async function () { const rows = await csv.parse(file, { fromLine: 1 + __ITER }); console.log(rows.length, rows[0].join()); }",
    )
    .file("data.csv", USERS)
    .vus(1, 2)
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["2 Anna,Bern", "1 Ben,Oslo"]);
    });
}

#[test]
fn a_field_as_large_as_the_heap_fails_the_iteration_alone() {
    let line = "x".repeat(40 << 20);
    case(
        "import csv from 'k6/experimental/csv'; import fs from 'k6/experimental/fs';
         const rows = await csv.parse(await fs.open('data.csv'));
         export default function () { if (__ITER === 0) { console.log(rows.length); rows[0]; } console.log('on'); }",
    )
    .file("data.csv", &line)
    .memory_limit(16 << 20)
    .vus(1, 2)
    .both(|report| {
        assert_eq!((report.said(), report.iterations()), (vec!["1", "on"], 2.0), "{report:#?}");
        assert!(report.level("error").iter().any(|line| line.contains("out of memory")), "{report:#?}");
    });
}

/// In the dense layout the VUs of a thread share the classes.
#[test]
fn streams_of_vus_do_not_meet_and_callbacks_may_wait() {
    case(
        "import { ReadableStream } from 'k6/experimental/streams'; import { sleep } from 'k6';
         export default async function () {
           let next = 0;
           const reader = new ReadableStream({ pull(controller) { sleep(0.002); controller.enqueue(`${__VU}.${next++}`); if (next === 3) controller.close(); } }).getReader();
           const chunks = []; for (;;) { const { done, value } = await reader.read(); if (done) break; chunks.push(value); }
           console.log(chunks.join());
         }",
    )
    .vus(3, 2)
    .both(|report| {
        report.assert_clean();
        let expect: Vec<_> = (1..4).flat_map(|vu| vec![format!("{vu}.0,{vu}.1,{vu}.2"); 2]).collect();
        assert_eq!(report.said_sorted(), expect);
    });
}

#[test]
fn classes_of_streams_can_be_extended_and_are_protected() {
    case(
        "import { ReadableStream } from 'k6/experimental/streams';
         class Numbers extends ReadableStream { constructor(to) { super({ start(c) { for (let i = 0; i < to; i++) c.enqueue(i); c.close(); } }); this.to = to; } }
         export default async function () {
           const numbers = new Numbers(2); const reader = numbers.getReader();
           console.log(numbers instanceof ReadableStream, numbers.to, (await reader.read()).value, (await reader.read()).value, (await reader.read()).done);
           try { reader.read.call({}); } catch (error) { console.log(error instanceof TypeError); }
           try { new (Object.getPrototypeOf(reader).constructor)(numbers); } catch (error) { console.log(error.message); }
         }",
    )
    .both(|report| {
        report.assert_clean();
        assert_eq!(report.said(), ["true 2 0 1 true", "true", "stream is locked"]);
    });
}

/// A stream that never stops is cut like any other code.
#[test]
fn an_endless_stream_is_interrupted() {
    case(
        "import { ReadableStream } from 'k6/experimental/streams';
         export const options = { scenarios: { all: { executor: 'constant-vus', vus: 2, duration: '1s', gracefulStop: '0s' } } };
         export default async function () { const reader = new ReadableStream({ pull(c) { c.enqueue(1); } }).getReader(); for (;;) await reader.read(); }",
    )
    .both(|report| assert!(report.stop.is_none() && report.iterations() == 0.0, "{report:#?}"));
}

#[test]
fn the_examples_of_the_pages_run() {
    let pages = [
        ("fs", vec![vec!["users.csv: read 29 of 29 bytes"]]),
        ("csv", vec![vec!["Anna lives in Bern", "Ben lives in Oslo"], vec!["Anna", "Ben"]]),
        ("streams", vec![vec!["chunk 1", "chunk 2", "chunk 3"]]),
    ];
    for (page, expected) in pages {
        let path = format!("{}/../../docs/reference/modules/{page}.md", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).expect("the page is there");
        let examples: Vec<_> =
            text.split("```js\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect();
        assert_eq!(examples.len(), expected.len(), "{page}");
        for (example, expected) in examples.iter().zip(expected) {
            let iterations = if expected.len() == 2 { 2 } else { 1 };
            case(example).file("users.csv", USERS).vus(1, iterations).both(|report: &Report| {
                report.assert_clean();
                assert_eq!(report.said(), expected, "{page}");
            });
        }
    }
}
