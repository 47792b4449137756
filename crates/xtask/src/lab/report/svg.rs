//! Charts as SVG, without any library: bars with intervals, and lines over amounts of load.

use std::fmt::Write as _;

/// A bar: a name, a value, its interval, whether it is ours.
#[derive(Debug, Clone)]
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) is_ours: bool,
}

/// Horizontal bars, shortest first, on a scale of powers of ten where values are far apart.
pub(super) fn bars(title: &str, unit: &str, mut bars: Vec<Bar>) -> String {
    bars.retain(|bar| bar.value.is_finite() && bar.value >= 0.0);
    bars.sort_by(|one, other| one.value.total_cmp(&other.value));
    let Some(last) = bars.last() else { return String::new() };
    let largest = bars.iter().map(|bar| bar.high).fold(last.value, f64::max).max(f64::MIN_POSITIVE);
    let least = bars.iter().map(|bar| bar.value).filter(|value| *value > 0.0).fold(largest, f64::min);
    let is_log = largest / least > FAR_APART;
    let x = |value: f64| -> f64 {
        let share = if is_log {
            let from = least.log10() - 0.3;
            (value.max(least * 0.6).log10() - from) / (largest.log10() - from)
        } else {
            value / largest
        };
        share.clamp(0.0, 1.0) * BARS_WIDTH
    };
    let height = bars.len() as f64 * LINE + 34.0;
    let mut svg = open(height, title);
    for (index, bar) in bars.iter().enumerate() {
        let y = index as f64 * LINE + 30.0;
        let class = if bar.is_ours { "ours" } else { "bar" };
        let _ = write!(
            svg,
            "<text x=\"{0}\" y=\"{1:.1}\" class=\"name\">{2}</text><rect x=\"{LEFT}\" y=\"{3:.1}\" width=\"{4:.1}\" height=\"12\" class=\"{class}\"/>",
            LEFT - 6.0,
            y + 10.0,
            escape(&bar.name),
            y,
            x(bar.value).max(1.0),
        );
        let (low, high) = (LEFT + x(bar.low), LEFT + x(bar.high));
        if high > low {
            let _ = write!(
                svg,
                "<path d=\"M{low:.1} {0:.1}H{high:.1}M{low:.1} {1:.1}v6M{high:.1} {1:.1}v6\" class=\"interval\"/>",
                y + 6.0,
                y + 3.0
            );
        }
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\">{}{unit}</text>",
            high.max(LEFT + x(bar.value)) + 5.0,
            y + 10.0,
            number(bar.value)
        );
    }
    let note = if is_log { "scale: powers of ten" } else { "" };
    let _ = write!(svg, "<text x=\"{LEFT}\" y=\"{:.1}\" class=\"note\">{note}</text></svg>", 26.0);
    svg
}

/// A line: a name and a value for each amount, where there is one.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) values: Vec<Option<f64>>,
    pub(super) is_ours: bool,
}

/// Lines over amounts of load, with their names at the end.
pub(super) fn lines(title: &str, amounts: &[String], mut lines: Vec<Line>) -> String {
    lines.retain(|line| line.values.iter().flatten().count() > 0);
    let largest = lines.iter().flat_map(|line| line.values.iter().flatten()).copied().fold(0.0, f64::max);
    if largest <= 0.0 || amounts.is_empty() {
        return String::new();
    }
    let height = (lines.len() as f64 * LINE + 60.0).max(300.0);
    let (top, bottom) = (40.0, height - 24.0);
    let step = LINES_WIDTH / (amounts.len().max(2) - 1) as f64;
    let y = |value: f64| bottom - value / largest * (bottom - top);
    let mut svg = open(height, title);
    for (index, amount) in amounts.iter().enumerate() {
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" class=\"middle\">{}</text>",
            LINES_LEFT + index as f64 * step,
            height - 6.0,
            escape(amount)
        );
    }
    for share in [0.0, 0.5, 1.0] {
        let at = y(largest * share);
        let _ = write!(
            svg,
            "<path d=\"M{LINES_LEFT} {at:.1}h{LINES_WIDTH}\" class=\"grid\"/><text x=\"{:.1}\" y=\"{:.1}\" class=\"name\">{}</text>",
            LINES_LEFT - 6.0,
            at + 4.0,
            number(largest * share)
        );
    }
    // Names from top to bottom, none upon another.
    lines.sort_by(|one, other| last(other).total_cmp(&last(one)));
    let mut labels: Vec<f64> = lines.iter().map(|line| y(last(line))).collect();
    for index in 1..labels.len() {
        labels[index] = labels[index].max(labels[index - 1] + LINE * 0.8);
    }
    // What is pushed below the axis moves the others up.
    let mut lowest = bottom;
    for label in labels.iter_mut().rev() {
        *label = label.min(lowest);
        lowest = *label - LINE * 0.8;
    }
    for (line, label) in lines.iter().zip(labels) {
        let class = if line.is_ours { "our-line" } else { "line" };
        let points: Vec<String> = line
            .values
            .iter()
            .enumerate()
            .filter_map(|(index, value)| Some(format!("{:.1},{:.1}", LINES_LEFT + index as f64 * step, y((*value)?))))
            .collect();
        let _ = write!(
            svg,
            "<polyline points=\"{}\" class=\"{class}\"><title>{name}</title></polyline><text x=\"{:.1}\" y=\"{:.1}\" class=\"{}\">{name} {}</text>",
            points.join(" "),
            LINES_LEFT + LINES_WIDTH + 8.0,
            label + 4.0,
            if line.is_ours { "our-name" } else { "" },
            number(last(line)),
            name = escape(&line.name),
        );
    }
    svg.push_str("</svg>");
    svg
}

fn last(line: &Line) -> f64 {
    line.values.iter().rev().flatten().next().copied().unwrap_or(0.0)
}

fn open(height: f64, title: &str) -> String {
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" height=\"{height:.0}\" role=\"img\"><text x=\"4\" y=\"14\" class=\"title\">{}</text>",
        escape(title)
    )
}

/// A chart as a file of its own, which no page lends its style.
pub(super) fn standalone(chart: &str) -> String {
    let Some((head, rest)) = chart.split_once('>') else { return String::new() };
    let head = head.replacen("<svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"", 1);
    format!("{head}><style>{STYLE}</style><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>{rest}\n")
}

/// As on the page, without the classes of lines.
const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#222}.title{font-weight:600}.name{text-anchor:end}.note{fill:#666}\
     .bar{fill:#9db2c8}.ours{fill:#d9622b}.interval{stroke:#333;fill:none}";

/// Three digits, none behind the point of what is whole, and thousands apart.
pub(in crate::lab) fn number(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 100.0 || size.fract() == 0.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.digits$}");
    let (whole, rest) =
        text.split_once('.').map_or((text.as_str(), String::new()), |(whole, rest)| (whole, format!(".{rest}")));
    let (sign, whole) = whole.strip_prefix('-').map_or(("", whole), |whole| ("-", whole));
    let groups: Vec<&str> =
        whole.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    format!("{sign}{}{rest}", groups.join(","))
}

/// For HTML and SVG: names, reasons and reports come from other programs.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(character),
            // Terminal escapes and the like have no place in a page.
            control if control.is_control() => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

const WIDTH: f64 = 760.0;
const LEFT: f64 = 130.0;
const BARS_WIDTH: f64 = 520.0;
const LINE: f64 = 18.0;
const LINES_LEFT: f64 = 70.0;
const LINES_WIDTH: f64 = 500.0;
/// A hundred times as much can not be told from nothing on an even scale.
const FAR_APART: f64 = 40.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(name: &str, value: f64) -> Bar {
        Bar { name: name.to_owned(), value, low: value * 0.9, high: value * 1.1, is_ours: name == "onrush" }
    }

    #[test]
    fn numbers() {
        assert_eq!(
            [1_234_567.8, 100.0, 12.34, 1.5, 0.01234, 0.0, -1500.0].map(number),
            ["1,234,568", "100", "12.3", "1.50", "0.012", "0", "-1,500"]
        );
    }

    #[test]
    fn bars_are_sorted_and_escaped() {
        let svg = bars("CPU", " µs", vec![bar("<k6>", 70.0), bar("onrush", 7.0), bar("nan", f64::NAN)]);
        assert!(svg.find("onrush").unwrap() < svg.find("&lt;k6&gt;").unwrap());
        assert!(!svg.contains("nan") && svg.contains("70 µs") && svg.ends_with("</svg>"));
        assert_eq!(bars("nothing", "", Vec::new()), "");
        assert!(bars("far", "", vec![bar("a", 1.0), bar("b", 1000.0)]).contains("powers of ten"));
    }

    #[test]
    fn names_of_lines_do_not_cover_each_other() {
        let line = |name: &str, value: f64| Line {
            name: name.to_owned(),
            values: vec![Some(value), None, Some(value)],
            is_ours: false,
        };
        let svg = lines(
            "RPS",
            &["20".to_owned(), "50".to_owned(), "100".to_owned()],
            vec![line("a", 10.0), line("b", 10.0), line("c", 10.0)],
        );
        let places: Vec<&str> =
            svg.split("<text x=\"578.0\" y=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(places.len(), 3);
        assert!(places[0] != places[1] && places[1] != places[2]);
        assert_eq!(lines("nothing", &[], Vec::new()), "");
    }
}
