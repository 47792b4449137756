//! Files as they are written, and as disks, crashes and strangers leave them.

use onrush_metrics::{
    Delta, ExactSum, Gauge, Histogram, Merged, Registry, Sink, Span, Step, Steps, TagPairs, ThresholdSource, builtin,
};
use onrush_results::{End, Ending, Head, MetricRow, ReadError, Reader, Record, Replayed, Writer};
use proptest::prelude::*;

const NS_PER_S: u64 = 1_000_000_000;

fn head() -> Head {
    let threshold = ThresholdSource { expression: "p(95)<50".to_owned(), ..ThresholdSource::default() };
    Head {
        onrush: "0.1.0".to_owned(),
        started: "2026-01-02T03:04:05Z".to_owned(),
        started_ms: Some(1_767_323_045_000.0),
        plan: Some(serde_json::json!([])),
        script: "script.js".to_owned(),
        fingerprint: "f".to_owned(),
        scenarios: vec!["default: 10 VUs for 1m".to_owned()],
        agents: 1,
        is_open: false,
        steady: vec![Span { from_ns: 0, until_ns: 60 * NS_PER_S }],
        metrics: MetricRow::all(&Registry::new()),
        thresholds: [("http_req_duration{name:a}".to_owned(), vec![threshold])].into(),
        trend_stats: vec!["avg".to_owned()],
        time_unit: String::new(),
    }
}

/// A second of a website: `requests` to each of three names.
fn second(number: u64, requests: u64) -> (Delta, Span) {
    let mut delta = Delta::default();
    for (place, name) in ["a", "b", "c"].into_iter().enumerate() {
        let tags: TagPairs = [("name".into(), name.into())].into();
        let mut random = number * 3 + place as u64 + 1;
        for (metric, around) in [
            (builtin::HTTP_REQ_DURATION, 20.0),
            (builtin::HTTP_REQ_WAITING, 19.0),
            (builtin::HTTP_REQ_BLOCKED, 0.0),
            (builtin::HTTP_REQ_CONNECTING, 0.0),
        ] {
            let mut times = Histogram::new();
            for _ in 0..requests {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                // Around 20 ms, seldom less than 15 or more than 30: the sum of four even numbers is almost a bell.
                let bell: u64 = (0..4).map(|part| random >> (part * 16) & 0xFFFF).sum();
                times.record((bell as f64 / 131_072.0 - 1.0).exp() * around);
            }
            delta.push(metric, tags.clone(), Sink::Trend(times));
        }
        delta.push(builtin::HTTP_REQ_FAILED, tags.clone(), Sink::Rate { hits: number % 3, total: requests });
        let mut sum = ExactSum::default();
        sum.add(requests as f64);
        delta.push(builtin::HTTP_REQS, tags, Sink::Counter { sum });
    }
    delta.push(builtin::VUS, TagPairs::default(), Sink::Gauge(Gauge::new(10.0, number)));
    (delta, Span { from_ns: number * NS_PER_S, until_ns: (number + 1) * NS_PER_S })
}

/// A run of so many seconds, and the sum of all that was measured.
fn run(seconds: u64, requests: u64) -> (Vec<u8>, Merged) {
    let mut merged = Merged::new(&Registry::new());
    let mut writer = Writer::new(Vec::new(), &head()).expect("memory takes everything");
    let mut recorder = Steps::for_keeping();
    for number in 0..seconds {
        let (delta, span) = second(number, requests);
        merged.add(&delta);
        recorder.add(&delta, Some(span)).into_iter().for_each(|step| writer.step(step).expect("it is written"));
    }
    recorder.rest().into_iter().for_each(|step| writer.step(step).expect("it is written"));
    let end = End { duration_ns: seconds * NS_PER_S, verdict: "VALID".to_owned(), ..End::default() };
    (writer.end(&end).expect("it is written"), merged)
}

#[test]
fn what_is_read_is_what_was_measured() {
    let (bytes, merged) = run(700, 20);
    let mut steps = 0;
    let replayed = Replayed::read(bytes.as_slice(), |_, _| steps += 1).expect("it is whole");
    // 400 seconds in steps of five.
    assert_eq!(steps, 300 + 80);
    assert_eq!(replayed.ending, Ending::Whole);
    assert_eq!(replayed.end.as_ref().map(|end| end.verdict.as_str()), Some("VALID"));
    assert!(
        replayed
            .merged
            .series()
            .map(|series| (&series.tags, &series.sink))
            .eq(merged.series().map(|series| (&series.tags, &series.sink)))
    );
    for (metric, sink) in merged.metrics() {
        assert_eq!(replayed.merged.sink(metric.id), Some(sink), "{}", metric.name);
    }
    assert_eq!(replayed.thresholds.results().len(), 1);
    assert!(replayed.thresholds.is_final());
}

#[test]
fn an_hour_takes_less_than_a_megabyte() {
    // 300 requests a second of three names, in 19 series.
    let (bytes, _) = run(3_600, 100);
    assert!(bytes.len() < 1 << 20, "{} bytes", bytes.len());
}

#[test]
fn a_file_that_was_cut_off_is_read_up_to_there() {
    let (bytes, _) = run(20, 2);
    let mut before = 0;
    for end in 0..bytes.len() {
        let Ok(mut reader) = Reader::new(&bytes[..end]) else { continue };
        let mut steps = 0;
        while let Some(record) = reader.next().expect("what is there is right") {
            assert!(matches!(record, Record::Step(_)));
            steps += 1;
        }
        assert!(matches!(reader.ending(), Some(Ending::Torn { at }) if at as usize <= end));
        assert!(steps >= before);
        before = steps;
    }
    assert_eq!(before, 20);
}

#[test]
fn notes_are_read_and_files_of_the_first_version_too() {
    let mut writer = Writer::new(Vec::new(), &head()).expect("memory takes everything");
    writer.note("health", "{\"atMs\":1000}".to_owned()).expect("it is written");
    let (delta, span) = second(0, 2);
    writer.step(Step { span: Some(span), delta }).expect("it is written");
    let bytes = writer.end(&End::default()).expect("it is written");
    let mut notes = Vec::new();
    let note = |name: &str, json: &str| notes.push((name.to_owned(), json.to_owned()));
    Replayed::read_all(bytes.as_slice(), |_, _| {}, note).expect("it is whole");
    assert_eq!(notes, [("health".to_owned(), "{\"atMs\":1000}".to_owned())]);
    // The first version is the same without notes.
    let (mut bytes, _) = run(10, 2);
    assert!(bytes.starts_with(b"onrush result 2\n"));
    bytes[14] = b'1';
    let mut steps = 0;
    Replayed::read(bytes.as_slice(), |_, _| steps += 1).expect("it is whole");
    assert_eq!(steps, 10);
}

#[test]
fn a_changed_byte_is_found() {
    let (bytes, _) = run(10, 2);
    for place in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[place] ^= 0x10;
        let read = Replayed::read(changed.as_slice(), |_, _| {});
        // A longer frame than there is looks as if it was cut off.
        let is_found = read.as_ref().map_or(true, |read| read.ending != Ending::Whole);
        assert!(is_found, "byte {place}");
    }
}

#[test]
fn other_files_are_refused() {
    let refused = |bytes: &[u8]| Reader::new(bytes).map(|_| ()).expect_err("it is refused").to_string();
    assert!(refused(b"").contains("no result file"));
    assert!(refused(b"{\"metrics\": {}}                ").contains("no result file"));
    assert!(refused(b"onrush result 27").contains("version 27"));
    assert!(refused(b"onrush result 1\n").contains("before its first record"));
    let mut bomb = b"onrush result 2\n".to_vec();
    let frame = zstd::encode_all(vec![0_u8; 200 << 20].as_slice(), 3).expect("memory takes everything");
    bomb.extend((frame.len() as u32).to_le_bytes());
    bomb.extend(crc32fast::hash(&frame).to_le_bytes());
    bomb.extend(frame);
    assert!(refused(&bomb).contains("larger than records may be"), "{}", refused(&bomb));
    let mut long = b"onrush result 2\n".to_vec();
    long.extend([0xFF; 100]);
    assert!(matches!(Reader::new(long.as_slice()), Err(ReadError::Damaged { at: 16, .. })));
}

#[test]
fn strange_metrics_are_refused() {
    let check = |change: fn(&mut Head), expect: &str| {
        let mut head = head();
        change(&mut head);
        let mut writer = Writer::new(Vec::new(), &head).expect("memory takes everything");
        let (delta, span) = second(0, 2);
        writer.step(Step { span: Some(span), delta }).expect("it is written");
        let bytes = writer.end(&End::default()).expect("it is written");
        let error = Replayed::read(bytes.as_slice(), |_, _| {}).map(|_| ()).expect_err("it is refused").to_string();
        assert!(error.contains(expect), "{error}");
    };
    check(|head| head.metrics.truncate(3), "a metric that its head does not have");
    check(|head| head.metrics[0].kind = "guess".to_owned(), "unknown type 'guess'");
    check(|head| head.metrics[0].name = "a b".to_owned(), "Invalid metric name");
    check(|head| head.thresholds = [("nothing".to_owned(), vec![ThresholdSource::default()])].into(), "threshold");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn no_frame_makes_a_reader_panic(payload in proptest::collection::vec(any::<u8>(), 0..400)) {
        let (mut bytes, _) = run(2, 2);
        let frame = zstd::encode_all(payload.as_slice(), 1).expect("memory takes everything");
        bytes.extend((frame.len() as u32).to_le_bytes());
        bytes.extend(crc32fast::hash(&frame).to_le_bytes());
        bytes.extend(frame);
        let _ = Replayed::read(bytes.as_slice(), |_, _| {});
    }

    /// Whatever times deltas have, nothing of them is lost.
    #[test]
    fn steps_hold_all_that_came(spans in proptest::collection::vec((0..50_000_u64, 0..5_000_u64), 1..100)) {
        let mut recorder = Steps::for_keeping();
        let mut steps = Vec::new();
        let (delta, _) = second(0, 1);
        for (from_ms, length_ms) in &spans {
            let span = Span { from_ns: from_ms * 1_000_000, until_ns: (from_ms + length_ms) * 1_000_000 };
            steps.extend(recorder.add(&delta, Some(span)));
        }
        steps.extend(recorder.rest());
        let requests: f64 = steps.iter().flat_map(|step| &step.delta.series).filter_map(|series| series.sink.counter()).sum();
        prop_assert_eq!(requests, 3.0 * spans.len() as f64);
        let places: Vec<_> = steps.iter().filter_map(|step| step.span).collect();
        prop_assert!(places.windows(2).all(|pair| pair[0].until_ns <= pair[1].from_ns));
        prop_assert!(places.iter().all(|span| Steps::kept_around(span.from_ns) == *span));
    }
}

/// What the guide says about runs that are killed: a step is written when none of its samples can come any more, and it is
/// longer the longer a run lasts.
#[test]
fn a_run_that_is_killed_lacks_its_last_seconds() {
    let mut recorder = Steps::for_keeping();
    let (mut kept, mut lacks) = (0, std::collections::BTreeMap::new());
    // The samples of a second are there when it is over.
    for number in 0..22_600 {
        let (delta, span) = second(number, 1);
        // Killed just before they are.
        let around = Steps::kept_around(span.until_ns - 1);
        let worst: &mut u64 = lacks.entry(around.until_ns - around.from_ns).or_default();
        *worst = (*worst).max(span.until_ns - kept);
        for step in recorder.add(&delta, Some(span)) {
            kept = step.span.map_or(kept, |span| span.until_ns);
        }
    }
    let in_seconds: Vec<_> = lacks.iter().map(|(length, most)| (length / NS_PER_S, most / NS_PER_S)).collect();
    assert_eq!(in_seconds, [(1, 5), (5, 11), (10, 21), (30, 61), (60, 121)]);
}
