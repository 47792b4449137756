//! Readers that come late, fall behind or come back, and runs that last.

use std::io::Read as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::read::GzDecoder;
use onrush_metrics::Steps;
use onrush_view::{AgentSecond, Batch, Cursor, End, HealthStep, LineRow, State, report};

use crate::{client::Client, *};

/// Reads all there is, in small pieces.
fn read_all(history: &History, client: &mut Client, cursor: &mut Cursor) {
    loop {
        let batch: Batch = history.read(cursor, 2_000);
        if batch.is_empty() {
            return;
        }
        client.take_events(&batch.to_events());
    }
}

fn requests(client: &Client) -> f64 {
    client.counter(u64::from(builtin::HTTP_REQS.0))
}

#[test]
fn who_comes_late_gets_everything_in_longer_steps() {
    let mut history = history();
    (0..2_000).for_each(|number| history.step(&second(number, 1, 1)));
    let (mut client, mut cursor) = (Client::default(), history.cursor(None));
    read_all(&history, &mut client, &mut cursor);
    assert_eq!(requests(&client), 2_000.0);
    // Five minutes of seconds, steps of five up to 1,695 s, and the last five minutes.
    assert_eq!(client.steps.len(), 300 + 280 + 300);
    assert!(client.steps.windows(2).all(|pair| pair[0]["untilMs"] == pair[1]["fromMs"]));
    assert_eq!(client.heads, 1);
}

#[test]
fn who_comes_back_gets_what_it_lacks_or_begins_anew() {
    let mut history = history();
    (0..10).for_each(|number| history.step(&second(number, 1, 1)));
    let (mut client, mut cursor) = (Client::default(), history.cursor(None));
    read_all(&history, &mut client, &mut cursor);
    (10..900).for_each(|number| history.step(&second(number, 1, 1)));
    let id = client.last_id.clone();
    let mut cursor = history.cursor(Some(&id));
    read_all(&history, &mut client, &mut cursor);
    assert_eq!((client.heads, requests(&client)), (1, 900.0));
    // One that has a part of what is a longer step by now.
    let mut behind = Client::default();
    let mut history = crate::history();
    (0..402).for_each(|number| history.step(&second(number, 1, 1)));
    let mut cursor = history.cursor(None);
    read_all(&history, &mut behind, &mut cursor);
    (402..1_000).for_each(|number| history.step(&second(number, 1, 1)));
    read_all(&history, &mut behind, &mut cursor);
    assert_eq!((behind.heads, requests(&behind)), (2, 1_000.0));
    // What another run called so is no place in this one.
    for id in ["other-3", "run-999999", "run-x", "", "run"] {
        assert_eq!(history.cursor(Some(id)), history.cursor(None), "{id}");
    }
}

#[test]
fn of_what_changes_only_the_latest_is_sent() {
    let mut history = history();
    let (mut client, mut cursor) = (Client::default(), history.cursor(None));
    for number in 0..5_u64 {
        history.open(&second(number, 1, 1));
        history.state(&State { iterations: number, ..State::default() });
        history.log(&LineRow { line: 1, count: number, ..LineRow::default() });
    }
    read_all(&history, &mut client, &mut cursor);
    assert_eq!(
        (requests(&client), &client.state["iterations"], &client.logs[&1]["count"]),
        (1.0, &4.into(), &4.into())
    );
    // A step takes the place of what was open.
    history.step(&second(4, 1, 1));
    read_all(&history, &mut client, &mut cursor);
    assert_eq!((requests(&client), client.open.is_none(), client.heads), (1.0, true, 1));
    history.state(&State { iterations: 9, ..State::default() });
    history.end(&End { exit_code: Some(0), ..End::default() });
    let batch = history.read(&mut cursor, usize::MAX);
    assert!(batch.is_over);
    client.take_events(&batch.to_events());
    assert_eq!((&client.state["iterations"], client.end.is_some()), (&9.into(), true));
    assert!(history.read(&mut cursor, usize::MAX).is_over);
}

#[test]
fn who_comes_late_and_reads_slowly_begins_once() {
    let mut history = history();
    let mut random = Random(1);
    for number in 0..1_500_u32 {
        history.step(&second(number.into(), 1, 1));
        let from_ms = f64::from(number) * 1e3;
        let row = AgentSecond { seconds: 1, ..AgentSecond::default() };
        history.health(&HealthStep { from_ms, at_ms: from_ms + 1e3, agents: vec![row] });
        if number % 3 == 0 {
            history.log(&LineRow { line: number.into(), count: 1, ..LineRow::default() });
        }
    }
    let (mut client, mut cursor) = (Client::default(), history.cursor(None));
    loop {
        let batch = history.read(&mut cursor, (random.next() % 3_000) as usize);
        if batch.is_empty() {
            break;
        }
        client.take_events(&batch.to_events());
    }
    let seconds = client.health.iter().filter_map(|step| step["agents"][0]["seconds"].as_u64()).sum::<u64>();
    assert_eq!((client.heads, requests(&client), seconds, client.logs.len()), (1, 1_500.0, 1_500, 500));
}

#[test]
fn health_becomes_longer_as_steps_do() {
    let mut history = history();
    for number in 0..1_000_u32 {
        history.step(&second(number.into(), 1, 1));
        let row = AgentSecond {
            agent: 1,
            seconds: 1,
            sent_bytes: 3,
            timer_lag_ms: f64::from(number),
            ..AgentSecond::default()
        };
        let from_ms = f64::from(number) * 1e3;
        history.health(&HealthStep {
            from_ms,
            at_ms: from_ms + 1e3,
            agents: vec![row, AgentSecond { agent: 2, ..row }],
        });
    }
    history.settle();
    let mut client = Client::default();
    client.take_lines(&lines(&history));
    assert_eq!((client.health.len(), client.steps.len()), (300 + 140, 300 + 140));
    let sum = |client: &Client, name: &str| -> u64 {
        let rows = client.health.iter().flat_map(|step| step["agents"].as_array().expect("a list"));
        rows.filter_map(|row| row[name].as_u64()).sum()
    };
    assert_eq!((sum(&client, "sentBytes"), sum(&client, "seconds")), (6_000, 2_000));
    assert_eq!(client.health.last().expect("one")["agents"][1]["timerLagMs"].as_f64(), Some(999.0));
}

#[test]
fn eight_hours_of_200_series_stay_small() {
    let mut history = history();
    // 33 names are 199 series. Of the middle of the run, steps come as long as they are kept, so that the test takes no minute.
    let parts: Vec<Step> = (0..8).map(|number| second(number, 33, 100)).collect();
    let (mut at_ns, mut steps) = (0, 0);
    while at_ns < 8 * 3_600 * NS_PER_S {
        let is_middle = (600..8 * 3_600 - 300).contains(&(at_ns / NS_PER_S));
        let second = Span { from_ns: at_ns, until_ns: at_ns + NS_PER_S };
        let span = if is_middle { Steps::kept_around(at_ns) } else { second };
        history.step(&Step { span: Some(span), delta: parts[steps % parts.len()].delta.clone() });
        (at_ns, steps) = (span.until_ns, steps + 1);
    }
    assert!(history.kept_bytes() < 64 << 20, "{} bytes", history.kept_bytes());
    let mut client = Client::default();
    client.take_lines(&lines(&history));
    assert_eq!(requests(&client), steps as f64 * 3_300.0);
    assert_eq!(client.steps.len(), 480);
}

/// The records in a report.
fn records(html: &str) -> String {
    let packed =
        html.split("id=\"onrush-stream\">").nth(1).and_then(|rest| rest.split('<').next()).expect("it is there");
    let packed = STANDARD.decode(packed).expect("base64");
    let mut lines = String::new();
    GzDecoder::new(packed.as_slice()).read_to_string(&mut lines).expect("as gunzip reads it");
    lines
}

/// The report of a run of so many names, each of which has six series and a hundred requests a second.
fn report_of(seconds: u32, names: usize) -> (String, Client) {
    let mut history = history();
    for number in 0..seconds {
        history.step(&second(number.into(), names, 100));
        let from_ms = f64::from(number) * 1e3;
        let row = AgentSecond {
            seconds: 1,
            cpu_cores: f64::from(number) / 7e3,
            rss_bytes: 80 << 20,
            ..AgentSecond::default()
        };
        history.health(&HealthStep { from_ms, at_ms: from_ms + 1e3, agents: vec![row] });
    }
    history.settle();
    let html = report::html(&history, &serde_json::json!({}));
    let mut client = Client::default();
    client.take_lines(&records(&html));
    // Nothing is left out.
    assert_eq!(requests(&client), f64::from(seconds) * 100.0 * names as f64);
    let healthy = client.health.iter().filter_map(|step| step["agents"][0]["seconds"].as_u64()).sum::<u64>();
    assert_eq!((client.health.len(), healthy), (client.steps.len(), seconds.into()));
    (html, client)
}

#[test]
fn the_report_of_an_hour_takes_less_than_a_megabyte() {
    // 300 requests a second of three names, in 19 series.
    let (html, client) = report_of(3_600, 3);
    assert!(html.len() < 1_000_000, "{} bytes", html.len());
    assert_eq!(client.steps.len(), 180);
}

#[test]
fn a_report_has_longer_steps_where_that_saves_room_but_enough_for_its_charts() {
    // In steps of five seconds it would be larger.
    let (html, client) = report_of(1_200, 8);
    assert!(html.len() < 1_000_000, "{} bytes", html.len());
    assert_eq!(client.steps.len(), 120);
    // Far more series than fit.
    let (html, client) = report_of(600, 40);
    assert!(html.len() > 1_000_000, "{} bytes", html.len());
    assert_eq!(client.steps.len(), 120);
}
