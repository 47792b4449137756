//! Whole screens of made-up moments, as they look.

use std::fmt::Write as _;

use onrush_fiber::Nanos;
use onrush_metrics::{
    Delta, ExactSum, Histogram, Merged, Phase, Registry, Sink, TagPairs, ThresholdSource, Thresholds, builtin,
};
use onrush_plan::{
    Options, Tier, consolidate, parse_json,
    steer::{Steerable, Targets},
};
use onrush_session::ScenarioTargets;
use ratatui::buffer::Buffer;

use super::{
    controls::{Controls, Dialog, Panel},
    draw,
    glance::{ErrorRow, ThresholdLine, ThresholdStanding},
    *,
};
use crate::{
    line::Level,
    progress::{Mark, Measured, Row},
    terminal::TailLine,
};

/// A run of 40 seconds, whose requests became slow and then failed.
pub(super) fn glance() -> Glance {
    let mut history = History::default();
    let mut whole = Measured::default();
    for second in 0..40_u64 {
        let measured = measured(second);
        history.note(&measured, Nanos::from_secs(second));
        history.vus(second.min(25) * 2, Nanos::from_secs(second));
        whole.merge(&measured);
    }
    let mut latest = measured(37);
    latest.merge(&measured(38));
    latest.merge(&measured(39));
    Glance {
        script: "shop/checkout.js".to_owned(),
        stage: "running".to_owned(),
        elapsed: "0m40.2s".to_owned(),
        planned: "1m00.0s".to_owned(),
        fraction: 0.67,
        verdict: (Verdict::Suspect, vec!["the generator's cores were 91 % busy".to_owned()]),
        thresholds: vec![
            threshold("http_req_duration p(95)<200", ThresholdStanding::Crossed, Some("412.5")),
            threshold("http_req_failed rate<0.01", ThresholdStanding::Holds, Some("0.004")),
            threshold("checks rate>0.99", ThresholdStanding::NotJudged, None),
        ],
        latest: Some((latest, 3)),
        whole,
        vus_active: 50,
        vus_initialized: 50,
        history,
        errors: vec![
            error(120, "dial: connection refused", "GET http://127.0.0.1:9/pay", 31, 39),
            error(40, "status 503", "POST http://127.0.0.1:8080/cart", 20, 38),
            error(2, "request timeout", "GET http://127.0.0.1:8080/slow", 12, 13),
        ],
        scenarios: vec![
            scenario("browse", Mark::Running, 0.67, Some((Some(50), None)), false),
            scenario("buy", Mark::Running, 0.5, Some((None, Some(200))), false),
            scenario("warm-up", Mark::Done, 1.0, Some((Some(5), None)), true),
        ],
        agents: Vec::new(),
        log: vec![
            said(Level::Info, "logged in  source=console"),
            said(Level::Warn, "Request Failed  error=dial: connection refused"),
        ],
    }
}

fn measured(second: u64) -> Measured {
    let mut durations = Histogram::new();
    durations.record_n(4.0 + second as f64, 90);
    durations.record_n(if second < 20 { 20.0 } else { 400.0 }, 10);
    let failed = if second < 30 { 0 } else { 4 };
    Measured { requests: 100.0, iterations: 25.0, failed: (failed, 100), durations, ..Measured::default() }
}

fn threshold(text: &str, standing: ThresholdStanding, observed: Option<&str>) -> ThresholdLine {
    ThresholdLine { text: text.to_owned(), standing, observed: observed.map(str::to_owned) }
}

fn error(count: u64, what: &str, example: &str, first: u64, last: u64) -> ErrorRow {
    let ns = |second: u64| second * 1_000_000_000;
    ErrorRow { count, what: what.to_owned(), example: example.to_owned(), first_ns: ns(first), last_ns: ns(last) }
}

fn scenario(
    name: &str,
    mark: Mark,
    fraction: f64,
    targets: Option<(Option<u64>, Option<u64>)>,
    is_over: bool,
) -> ScenarioLine {
    let targets = targets.map(|(vus, rate)| ScenarioTargets {
        name: name.to_owned(),
        executor: if rate.is_some() { "constant-arrival-rate" } else { "constant-vus" },
        time_unit_ns: rate.map(|_| 1_000_000_000),
        targets: Targets {
            steerable: if rate.is_some() { Steerable::Rate } else { Steerable::Vus },
            vus,
            max_vus: None,
            rate,
            is_moving: false,
        },
        ramp: None,
        at_ns: 40_000_000_000,
        is_over,
    });
    let columns = vec!["50 VUs".to_owned(), "0m40.2s/1m0s".to_owned()];
    ScenarioLine { row: Row { name: name.to_owned(), mark, fraction, columns }, targets }
}

fn said(level: Level, text: &str) -> TailLine {
    TailLine { level, text: text.to_owned() }
}

/// The characters of a screen, a line each.
fn text(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let mut line = String::new();
        let mut skipped = 0;
        for x in 0..buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            if skipped > 0 {
                skipped -= 1;
                continue;
            }
            skipped = ratatui::text::Span::raw(symbol).width().saturating_sub(1);
            line.push_str(symbol);
        }
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn drawn(glance: &Glance, controls: &Controls, columns: u16, rows: u16) -> String {
    text(&draw::screen(glance, controls, Signs::Blocks, columns, rows))
}

#[test]
fn a_usual_terminal() {
    insta::assert_snapshot!(drawn(&glance(), &Controls::default(), 80, 24));
}

#[test]
fn a_large_terminal() {
    let mut glance = glance();
    glance.agents = vec!["1 host-a: 25 of 25 VUs, 500 iterations".to_owned(), "2 host-b: lost".to_owned()];
    let controls = Controls { focus: Panel::Errors, error: 1, ..Controls::default() };
    insta::assert_snapshot!(drawn(&glance, &controls, 200, 60));
}

#[test]
fn without_blocks_it_is_ascii() {
    let screen = text(&draw::screen(&glance(), &Controls::default(), Signs::Ascii, 100, 30));
    assert!(screen.is_ascii(), "{screen}");
    insta::assert_snapshot!(screen);
}

#[test]
fn dialogs_lie_over_it() {
    let with = |dialog| Controls { dialog: Some(dialog), scenario: 1, ..Controls::default() };
    let help = drawn(&glance(), &with(Dialog::Help), 80, 24);
    assert!(help.contains("Ctrl+C       end the test in order, as without the view; twice: at once"), "{help}");
    let question = drawn(&glance(), &with(Dialog::ConfirmAbort), 80, 24);
    assert!(question.contains("End the test now? What was measured stays."), "{question}");
    let typed = drawn(&glance(), &with(Dialog::Target("17".to_owned())), 80, 24);
    assert!(typed.contains("New target of 'buy', now 200: 17_"), "{typed}");
}

/// Nothing was measured yet, nothing is known: every panel has something to say for that.
#[test]
fn a_run_that_has_not_begun() {
    let mut glance = glance();
    glance.history = History::default();
    glance.latest = None;
    glance.whole = Measured::default();
    (glance.thresholds, glance.errors, glance.log) = (Vec::new(), Vec::new(), Vec::new());
    glance.scenarios.truncate(1);
    glance.scenarios[0].targets = None;
    (glance.fraction, glance.stage) = (f64::NAN, "running".to_owned());
    let screen = drawn(&glance, &Controls::default(), 80, 24);
    assert!(screen.contains("nothing yet") && screen.contains("no thresholds"), "{screen}");
}

/// Names and texts come from scripts and servers.
#[test]
fn hostile_texts_stay_in_their_cells() {
    let mut glance = glance();
    let hostile = "\x1b[2J\x1b]0;x\x07日本語\u{202e}gnp.exe\r\n\u{9b}31m".to_owned() + &"e\u{301}\u{489}".repeat(2000);
    glance.script = hostile.clone();
    glance.thresholds[0].text = hostile.clone();
    glance.errors[0].what = hostile.clone();
    glance.errors[1].example = hostile.repeat(50);
    glance.scenarios[0].row.name = hostile.clone();
    glance.agents = vec![hostile.clone()];
    glance.log[0].text = hostile.clone();
    glance.verdict.1 = vec![hostile];
    for (columns, rows) in [(80, 24), (200, 60), (40, 10), (41, 11), (119, 3), (500, 500)] {
        for dialog in [None, Some(Dialog::Help), Some(Dialog::Target("1".to_owned()))] {
            let controls = Controls { dialog, scenario: 99, error: 99, log_back: 99, ..Controls::default() };
            let buffer = draw::screen(&glance, &controls, Signs::Blocks, columns, rows);
            for cell in buffer.content() {
                let symbol = cell.symbol();
                assert!(symbol.len() <= 32 && !symbol.chars().any(char::is_control), "{symbol:?}");
            }
        }
    }
}

#[test]
fn any_size_is_drawn() {
    for columns in (0..260).step_by(7) {
        for rows in 0..70 {
            let buffer = draw::screen(&glance(), &Controls::default(), Signs::Blocks, columns, rows);
            assert_eq!((buffer.area.width, buffer.area.height), (columns, rows));
        }
    }
}

#[test]
fn the_time_of_the_plan_has_no_graceful_stop() {
    let check = |scenarios: &str, seconds: u64| {
        let options = parse_json(&format!(r#"{{"scenarios": {{{scenarios}}}}}"#)).expect("options").options;
        let test = consolidate(vec![(Tier::Defaults, Options::defaults()), (Tier::Script, options)]).expect("valid");
        let plan = Plan::new(&test.scenarios, &test.share).expect("a plan");
        assert_eq!(planned_ns(&plan), seconds * 1_000_000_000, "{scenarios}");
    };
    let twenty = r#""a": {"executor": "constant-vus", "vus": 2, "duration": "20s"}"#;
    check(twenty, 20);
    let later =
        r#""b": {"executor": "constant-vus", "vus": 1, "startTime": "15s", "duration": "10s", "gracefulStop": "1m"}"#;
    check(&format!("{twenty}, {later}"), 25);
    check(r#""c": {"executor": "externally-controlled", "vus": 1, "duration": "0"}"#, 0);
}

#[test]
fn thresholds_have_the_units_of_the_summary() {
    let registry = Registry::new();
    let source = |expression: &str| vec![ThresholdSource { expression: expression.to_owned(), ..Default::default() }];
    let sources = [
        ("http_req_duration", "p(95)<50"),
        ("http_req_failed", "rate<0.5"),
        ("http_reqs", "rate>10"),
        ("data_received", "count<1"),
        ("iterations", "count>5"),
        ("vus", "value>0"),
    ];
    let sources = sources.map(|(metric, expression)| (metric.to_owned(), source(expression)));
    let mut thresholds = Thresholds::parse(&sources.into(), &registry).expect("valid");
    let mut delta = Delta::default();
    let mut durations = Histogram::new();
    durations.record(60.616);
    let counter = |value: f64| {
        let mut sum = ExactSum::default();
        sum.add(value);
        Sink::Counter { sum }
    };
    delta.push(builtin::HTTP_REQ_DURATION, TagPairs::default(), Sink::Trend(durations));
    delta.push(builtin::HTTP_REQ_FAILED, TagPairs::default(), Sink::Rate { hits: 1, total: 8 });
    delta.push(builtin::HTTP_REQS, TagPairs::default(), counter(8.0));
    delta.push(builtin::DATA_RECEIVED, TagPairs::default(), counter(25_000.0));
    delta.push(builtin::ITERATIONS, TagPairs::default(), counter(8.0));
    let mut merged = Merged::new(&registry);
    merged.add(&delta);
    thresholds.evaluate(&merged, 2_000_000_000, Phase::Running);
    let shown = |unit| -> Vec<String> {
        let lines = glance::thresholds(&thresholds, &registry, unit).into_iter();
        lines.map(|line| format!("{} ({})", line.text, line.observed.unwrap_or_default())).collect()
    };
    // Those that are crossed come first; what has no samples yet has no value.
    let [duration, rest @ ..] = &shown(None)[..] else { panic!("some") };
    assert!(duration.starts_with("data_received count<1 (25 kB)"), "{duration}");
    let expect = [
        "http_req_duration p(95)<50 (60.6",
        "http_reqs rate>10 (4/s)",
        "http_req_failed rate<0.5 (12.50%)",
        "iterations count>5 (8)",
        "vus value>0 ()",
    ];
    assert!(rest.iter().zip(expect).all(|(line, expect)| line.starts_with(expect)), "{rest:?}");
    assert!(rest[0].ends_with("ms)"), "{rest:?}");
    let seconds = shown(TimeUnit::parse("s").expect("a unit"));
    assert!(seconds[1].ends_with("(0.06s)"), "{seconds:?}");
}
