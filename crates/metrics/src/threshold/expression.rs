//! One threshold expression, `p(95)<500`: its grammar, k6's messages, and its truth.

use super::go::{FloatError, go_quote, parse_float};
use crate::{registry::MetricKind, sink::Sink};

/// A parsed expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expression {
    /// What is computed.
    pub method: Method,
    /// How it is compared.
    pub operator: Operator,
    /// What it is compared with.
    pub value: f64,
}

/// How a metric becomes one number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// A counter's sum.
    Count,
    /// A counter's sum per second, or a rate's share of hits.
    Rate,
    /// A gauge's last value.
    Value,
    /// A trend's average.
    Avg,
    /// A trend's smallest value.
    Min,
    /// A trend's largest value.
    Max,
    /// A trend's median.
    Med,
    /// A trend's percentile, 0 to 100.
    Percentile(f64),
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `<=`
    LessOrEqual,
    /// `<`
    Less,
    /// `>=`
    GreaterOrEqual,
    /// `>`
    Greater,
    /// `==`, `===`
    Equal,
    /// `!=`
    NotEqual,
}

/// Why an expression cannot be used. The texts are k6's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExpressionError {
    /// k6's text.
    pub message: String,
    /// Byte offset of the first offending character in the expression; its length if something is missing.
    pub position: usize,
    /// What should be there.
    pub expected: &'static str,
}

impl Expression {
    /// Parses `method operator number`.
    ///
    /// # Errors
    /// With k6's text; see [`ExpressionError`].
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        let quoted = go_quote(text);
        // k6: the first of the operators, in this order, with anything after it.
        let split = OPERATORS.iter().find_map(|(symbol, operator)| {
            let at = text.find(symbol)?;
            let right = at + symbol.len();
            (right < text.len()).then_some((at, *operator, right))
        });
        let Some((left_end, operator, right_start)) = split else {
            let (position, expected) = without_comparison(text);
            return Err(ExpressionError {
                message: format!(
                    "failed parsing threshold expression {quoted}; reason: malformed threshold expression"
                ),
                position,
                expected,
            });
        };

        let left = text[..left_end].trim();
        let left_start = text.len() - text.trim_start().len();
        let method = Method::parse(left).map_err(|(offset, reason)| ExpressionError {
            message: format!("failed parsing threshold expression's {quoted} left hand side; reason: {reason}"),
            position: left_start.min(left_end) + offset,
            expected: match left {
                _ if left.starts_with(PERCENTILE_START) => PERCENTILE,
                // The way others write it.
                _ if left.starts_with('p') && left[1..].starts_with(|next: char| next.is_ascii_digit()) => BRACKETS,
                _ => METHOD,
            },
        })?;

        let right = text[right_start..].trim();
        let value = parse_float(right).map_err(|error| {
            let blank = text[right_start..].len() - text[right_start..].trim_start().len();
            ExpressionError {
                // k6: with this spelling.
                message: format!(
                    "failed parsing threshold expresion's {quoted} right hand side; reason: {}",
                    number_error(right, error)
                ),
                position: right_start + blank + error.position(),
                expected: NUMBER,
            }
        })?;
        Ok(Self { method, operator, value })
    }

    /// Whether `observed` satisfies it.
    pub fn holds(&self, observed: f64) -> bool {
        match self.operator {
            Operator::LessOrEqual => observed <= self.value,
            Operator::Less => observed < self.value,
            Operator::GreaterOrEqual => observed >= self.value,
            Operator::Greater => observed > self.value,
            Operator::Equal => observed == self.value,
            Operator::NotEqual => observed != self.value,
        }
    }
}

impl Method {
    /// k6's name of it, without a percentile's number.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Rate => "rate",
            Self::Value => "value",
            Self::Avg => "avg",
            Self::Min => "min",
            Self::Max => "max",
            Self::Med => "med",
            Self::Percentile(_) => "p",
        }
    }

    /// Whether metrics of this kind have it. k6: a trend has no `count`.
    pub fn is_supported_by(self, kind: MetricKind) -> bool {
        supported_methods(kind).split(", ").any(|name| name == self.as_str())
    }

    /// The number it makes of a sink, after `elapsed_ns` of the run; `None` if the sink's kind does not have it.
    pub fn observe(self, sink: &Sink, elapsed_ns: u64) -> Option<f64> {
        Some(match (self, sink) {
            (Self::Count, Sink::Counter { sum }) => sum.value(),
            (Self::Rate, Sink::Counter { .. }) if elapsed_ns == 0 => 0.0,
            (Self::Rate, Sink::Counter { sum }) => sum.value() / (elapsed_ns as f64 / 1e9),
            (Self::Rate, Sink::Rate { total: 0, .. }) => 0.0,
            (Self::Rate, Sink::Rate { hits, total }) => *hits as f64 / *total as f64,
            (Self::Value, Sink::Gauge(gauge)) => gauge.last,
            (Self::Avg, Sink::Trend(histogram)) => histogram.mean(),
            (Self::Min, Sink::Trend(histogram)) => histogram.min(),
            (Self::Max, Sink::Trend(histogram)) => histogram.max(),
            (Self::Med, Sink::Trend(histogram)) => histogram.quantile(0.5),
            (Self::Percentile(percent), Sink::Trend(histogram)) => histogram.quantile(percent / 100.0),
            _ => return None,
        })
    }

    /// The error is a byte offset and k6's reason.
    fn parse(text: &str) -> Result<Self, (usize, String)> {
        Ok(match text {
            "count" => Self::Count,
            "rate" => Self::Rate,
            "value" => Self::Value,
            "avg" => Self::Avg,
            "min" => Self::Min,
            "max" => Self::Max,
            "med" => Self::Med,
            _ => {
                let number = text.strip_prefix(PERCENTILE_START).and_then(|rest| rest.strip_suffix(')'));
                let Some(number) = number else {
                    return Err((0, "failed parsing method from expression".to_owned()));
                };
                let percent = parse_float(number).map_err(|error| {
                    (
                        PERCENTILE_START.len() + error.position(),
                        format!("malformed percentile value; reason: {}", number_error(number, error)),
                    )
                })?;
                // k6: since 2.0; NaN is no such number either.
                if !(0.0..=100.0).contains(&percent) {
                    let reason = "malformed percentile value, provide a number between 0 and 100";
                    return Err((PERCENTILE_START.len(), reason.to_owned()));
                }
                Self::Percentile(percent)
            }
        })
    }
}

/// Where an expression without a whole comparison goes wrong, and what should be there.
fn without_comparison(text: &str) -> (usize, &'static str) {
    let ends_with_operator = OPERATORS.iter().any(|(symbol, _)| text.ends_with(symbol));
    if text.trim().is_empty() {
        (text.len(), EXPRESSION)
    } else if ends_with_operator {
        (text.len(), NUMBER)
    } else {
        (text.find(['=', '!', '~', '≤', '≥']).unwrap_or(text.len()), COMPARISON)
    }
}

const EXPRESSION: &str = "an expression such as p(95)<500";
const METHOD: &str = "count, rate, value, avg, min, max, med or p(N)";
const PERCENTILE: &str = "p(N) with N from 0 to 100";
const BRACKETS: &str = "brackets around the number, as in p(95)";
const COMPARISON: &str = "<, <=, >, >=, ==, === or !=";
const NUMBER: &str = "a number without a unit";

/// What k6 lists in its message.
pub(super) fn supported_methods(kind: MetricKind) -> &'static str {
    match kind {
        MetricKind::Counter => "count, rate",
        MetricKind::Gauge => "value",
        MetricKind::Rate => "rate",
        MetricKind::Trend => "avg, min, max, med, p",
    }
}

impl FloatError {
    fn position(self) -> usize {
        match self {
            Self::Syntax(position) => position,
            Self::Range => 0,
        }
    }
}

fn number_error(text: &str, error: FloatError) -> String {
    let reason = match error {
        FloatError::Syntax(_) => "invalid syntax",
        FloatError::Range => "value out of range",
    };
    format!("strconv.ParseFloat: parsing {}: {reason}", go_quote(text))
}

const PERCENTILE_START: &str = "p(";

const OPERATORS: [(&str, Operator); 7] = [
    ("<=", Operator::LessOrEqual),
    ("<", Operator::Less),
    (">=", Operator::GreaterOrEqual),
    (">", Operator::Greater),
    ("===", Operator::Equal),
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let shown = match Expression::parse(text) {
            Ok(Expression { method: Method::Percentile(percent), operator, value }) => {
                format!("p {percent} {operator:?} {value}")
            }
            Ok(Expression { method, operator, value }) => format!("{} {operator:?} {value}", method.as_str()),
            Err(error) => {
                assert!(text.is_char_boundary(error.position), "{text:?}: {error:?}");
                let text = error
                    .message
                    .replace("failed parsing threshold expression's", "left")
                    .replace("failed parsing threshold expresion's", "right")
                    .replace("failed parsing threshold expression", "whole");
                format!("{}: {text}", error.position)
            }
        };
        assert_eq!(shown, expect, "{text:?}");
    }

    /// Each line was compared with what k6 1.8 says; the range of percentiles is of 2.0.
    #[test]
    fn well_formed() {
        check("p(95)<500", "p 95 Less 500");
        check(" p(95) < 500 ", "p 95 Less 500");
        check("p(95)\u{a0}<5", "p 95 Less 5");
        check("avg\t<\n5", "avg Less 5");
        check("p(99.9)<=5e2", "p 99.9 LessOrEqual 500");
        check("p(9_5)<5", "p 95 Less 5");
        check("p(-0)<5", "p -0 Less 5");
        check("p(1e1)<1_000", "p 10 Less 1000");
        check("avg==5", "avg Equal 5");
        check("avg===5", "avg Equal 5");
        check("avg!=5", "avg NotEqual 5");
        check("count > -1", "count Greater -1");
        check("rate>=.5", "rate GreaterOrEqual 0.5");
        check("value<inf", "value Less inf");
        check("max<nan", "max Less NaN");
    }

    #[test]
    fn malformed() {
        check("", "0: whole \"\"; reason: malformed threshold expression");
        check("avg", "3: whole \"avg\"; reason: malformed threshold expression");
        check("avg=5", "3: whole \"avg=5\"; reason: malformed threshold expression");
        check("p(95)<", "6: whole \"p(95)<\"; reason: malformed threshold expression");
        check("avg <", "5: whole \"avg <\"; reason: malformed threshold expression");
        check("<5", "0: left \"<5\" left hand side; reason: failed parsing method from expression");
        check(" foo>5", "1: left \" foo>5\" left hand side; reason: failed parsing method from expression");
        check("avg=>5", "0: left \"avg=>5\" left hand side; reason: failed parsing method from expression");
        check("avg!==5", "0: left \"avg!==5\" left hand side; reason: failed parsing method from expression");
        check("avg>=<5", "0: left \"avg>=<5\" left hand side; reason: failed parsing method from expression");
        check("P(95)<5", "0: left \"P(95)<5\" left hand side; reason: failed parsing method from expression");
        check("p(95<5", "0: left \"p(95<5\" left hand side; reason: failed parsing method from expression");
        check("p(1<2)<5", "0: left \"p(1<2)<5\" left hand side; reason: failed parsing method from expression");
        check("   ", "3: whole \"   \"; reason: malformed threshold expression");
        check(
            "p()<5",
            "2: left \"p()<5\" left hand side; reason: malformed percentile value; reason: strconv.ParseFloat: parsing \"\": invalid syntax",
        );
        check(
            "p(95))<5",
            "4: left \"p(95))<5\" left hand side; reason: malformed percentile value; reason: strconv.ParseFloat: parsing \"95)\": invalid syntax",
        );
        check(
            "p( 95 )<5",
            "2: left \"p( 95 )<5\" left hand side; reason: malformed percentile value; reason: strconv.ParseFloat: parsing \" 95 \": invalid syntax",
        );
        check(
            "p(101)<5",
            "2: left \"p(101)<5\" left hand side; reason: malformed percentile value, provide a number between 0 and 100",
        );
        check(
            "p(nan)<5",
            "2: left \"p(nan)<5\" left hand side; reason: malformed percentile value, provide a number between 0 and 100",
        );
        check(
            "avg<<5",
            "4: right \"avg<<5\" right hand side; reason: strconv.ParseFloat: parsing \"<5\": invalid syntax",
        );
        check(
            "avg<=5<6",
            "6: right \"avg<=5<6\" right hand side; reason: strconv.ParseFloat: parsing \"5<6\": invalid syntax",
        );
        check("avg<=", "4: right \"avg<=\" right hand side; reason: strconv.ParseFloat: parsing \"=\": invalid syntax");
        check(
            "avg<   ",
            "7: right \"avg<   \" right hand side; reason: strconv.ParseFloat: parsing \"\": invalid syntax",
        );
        check(
            "avg> 5ms",
            "6: right \"avg> 5ms\" right hand side; reason: strconv.ParseFloat: parsing \"5ms\": invalid syntax",
        );
        check(
            "avg<1e400",
            "4: right \"avg<1e400\" right hand side; reason: strconv.ParseFloat: parsing \"1e400\": value out of range",
        );
    }
}
