//! What was measured in a part of the run, as a record.

use onrush_metrics::{Delta, Ending, Histogram, Kept, Outcome, Sink, Span};

use crate::number::{ms, push};

/// The records `step` and `open`, of series that are called by their numbers ([`crate::table::Table::numbered`]).
pub(crate) fn record(span: Option<Span>, delta: &Delta) -> String {
    let mut text = String::with_capacity(delta.series.len() * 64);
    match span {
        Some(span) => {
            text.push_str("{\"fromMs\":");
            push(&mut text, ms(span.from_ns));
            text.push_str(",\"untilMs\":");
            push(&mut text, ms(span.until_ns));
        }
        None => text.push_str("{\"fromMs\":null,\"untilMs\":null"),
    }
    text.push_str(",\"values\":[");
    for (place, series) in delta.series.iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        text.push_str(&format!("[{},", series.metric.0));
        push_sink(&mut text, &series.sink);
        text.push(']');
    }
    text.push_str("],\"outcomes\":[");
    for (place, outcome) in delta.outcomes.iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        push_outcome(&mut text, outcome);
    }
    text.push_str(&format!("],\"lost\":{}}}", delta.samples_lost));
    text
}

fn push_sink(text: &mut String, sink: &Sink) {
    match sink {
        Sink::Counter { sum } => push(text, sum.value()),
        Sink::Gauge(gauge) => push_list(text, &[gauge.last, gauge.min, gauge.max]),
        Sink::Rate { hits, total } => text.push_str(&format!("[{hits},{total}]")),
        Sink::Trend(histogram) => push_trend(text, histogram),
    }
}

fn push_trend(text: &mut String, histogram: &Histogram) {
    text.push_str(&format!("{{\"n\":{},\"s\":", histogram.count()));
    push(text, histogram.sum());
    text.push_str(",\"a\":");
    push(text, histogram.min());
    text.push_str(",\"z\":");
    push(text, histogram.max());
    match histogram.kept() {
        Kept::Values(values) => {
            text.push_str(",\"v\":");
            push_list(text, values);
        }
        Kept::Buckets { zeros, positive, negative } => {
            text.push_str(&format!(",\"o\":{zeros}"));
            for (name, buckets) in [("p", positive), ("m", negative)] {
                if buckets.is_empty() {
                    continue;
                }
                text.push_str(&format!(",\"{name}\":["));
                let mut before = 0;
                for (place, (index, count)) in buckets.into_iter().enumerate() {
                    let comma = if place > 0 { "," } else { "" };
                    text.push_str(&format!("{comma}{},{count}", index - std::mem::replace(&mut before, index)));
                }
                text.push(']');
            }
        }
    }
    text.push('}');
}

fn push_list(text: &mut String, values: &[f64]) {
    text.push('[');
    for (place, value) in values.iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        push(text, *value);
    }
    text.push(']');
}

fn push_outcome(text: &mut String, outcome: &Outcome) {
    match &outcome.ending {
        Ending::Status(status) => text.push_str(&format!("{{\"status\":{status}")),
        Ending::Error { code, text: error } => {
            text.push_str(&format!("{{\"code\":{code},\"text\":"));
            push_text(text, error);
        }
        Ending::Interrupted => text.push_str("{\"interrupted\":true"),
    }
    text.push_str(&format!(",\"count\":{},\"example\":", outcome.count));
    push_text(text, &outcome.example);
    text.push('}');
}

/// A text as JSON.
pub(crate) fn push_text(text: &mut String, value: &str) {
    // A text always becomes JSON.
    text.push_str(&serde_json::to_string(value).unwrap_or_default());
}
