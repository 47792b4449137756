//! What metrics and traces say, and whether the protocol allows it.

use super::protobuf::{Value, fields, fixed64s, varints, zigzag};

/// A data point.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The instrument.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// In their order.
    pub attributes: Vec<(String, String)>,
    /// Nanoseconds since 1970; 0 for a gauge.
    pub start_ns: u64,
    /// Nanoseconds since 1970.
    pub time_ns: u64,
    /// Whether it covers what came since the last one.
    pub is_delta: bool,
    /// What it says.
    pub value: PointValue,
}

/// What a data point says.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the protocol's own names")]
pub enum PointValue {
    Gauge(f64),
    Sum(f64),
    Count(i64),
    Histogram { count: u64, sum: f64, min: f64, max: f64, bounds: Vec<f64>, counts: Vec<u64> },
    Exponential { count: u64, sum: f64, min: f64, max: f64, scale: i64, zeros: u64, offset: i64, counts: Vec<u64> },
}

/// A span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpanSeen {
    /// In hexadecimal digits.
    pub trace: String,
    /// In hexadecimal digits.
    pub id: String,
    /// In hexadecimal digits; empty for none.
    pub parent: String,
    /// Its name.
    pub name: String,
    /// 1 internal, 3 client.
    pub kind: u64,
    /// Nanoseconds since 1970.
    pub start_ns: u64,
    /// Nanoseconds since 1970.
    pub end_ns: u64,
    /// In their order; numbers as texts.
    pub attributes: Vec<(String, String)>,
    /// 0 unset, 2 error.
    pub status: u64,
    /// What is said about it.
    pub message: String,
}

impl Point {
    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        find(&self.attributes, name)
    }
}

impl SpanSeen {
    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        find(&self.attributes, name)
    }
}

fn find<'a>(attributes: &'a [(String, String)], name: &str) -> Option<&'a str> {
    attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

type Attributes = Vec<(String, String)>;

/// An export of metrics: its resources, and data points.
pub(super) fn metrics(message: &[u8]) -> Result<(Vec<Attributes>, Vec<Point>), String> {
    let mut points = Vec::new();
    let resources = walk(message, |name, value| match name {
        2 => metric(bytes(value)?, &mut points),
        other => Err(format!("field {other} of the metrics of a scope")),
    })?;
    Ok((resources, points))
}

/// An export of traces: its resources, and spans.
pub(super) fn traces(message: &[u8]) -> Result<(Vec<Attributes>, Vec<SpanSeen>), String> {
    let mut spans = Vec::new();
    let resources = walk(message, |name, value| match name {
        2 => {
            spans.push(span(bytes(value)?)?);
            Ok(())
        }
        other => Err(format!("field {other} of the spans of a scope")),
    })?;
    Ok((resources, spans))
}

/// Whether it looks like spans: they begin with an id of 16 bytes, metrics with a name.
pub(super) fn is_traces(message: &[u8]) -> bool {
    traces(message).is_ok_and(|(_, spans)| !spans.is_empty())
}

/// Both begin alike: resources, and scopes in them.
fn walk(
    message: &[u8],
    mut inside: impl FnMut(u64, Value<'_>) -> Result<(), String>,
) -> Result<Vec<Attributes>, String> {
    let mut resources = Vec::new();
    for (number, value) in fields(message)? {
        if number != 1 {
            return Err(format!("field {number} of an export"));
        }
        for (number, value) in fields(bytes(value)?)? {
            match number {
                1 => {
                    let found = attributes(bytes(value)?, 1)?;
                    find(&found, "service.name").ok_or("a resource without service.name")?;
                    resources.push(found);
                }
                2 => {
                    for (number, value) in fields(bytes(value)?)? {
                        match number {
                            1 => _ = fields(bytes(value)?)?,
                            number => inside(number, value)?,
                        }
                    }
                }
                other => return Err(format!("field {other} of a resource's")),
            }
        }
    }
    if resources.is_empty() {
        return Err("an export without a resource".to_owned());
    }
    Ok(resources)
}

fn metric(message: &[u8], points: &mut Vec<Point>) -> Result<(), String> {
    let (mut name, mut unit, mut data) = (String::new(), String::new(), None);
    for (number, value) in fields(message)? {
        match number {
            1 => name = text(value)?,
            3 => unit = text(value)?,
            5 | 7 | 9 | 10 if data.is_none() => data = Some((number, bytes(value)?)),
            other => return Err(format!("field {other} of a metric")),
        }
    }
    let (kind, data) = data.ok_or("a metric without data")?;
    if name.is_empty() {
        return Err("a metric without a name".to_owned());
    }
    let (mut temporality, mut is_monotonic, mut of_metric) = (0, false, Vec::new());
    for (number, value) in fields(data)? {
        match (number, value) {
            (1, value) => of_metric.push(point(kind, bytes(value)?).map_err(|why| format!("{name}: {why}"))?),
            (2, Value::Varint(value)) if kind != 5 => temporality = value,
            (3, Value::Varint(value)) if kind == 7 => is_monotonic = value == 1,
            (other, _) => return Err(format!("field {other} of the data of {name}")),
        }
    }
    if of_metric.is_empty() || kind != 5 && !(1..=2).contains(&temporality) || kind == 7 && !is_monotonic {
        return Err(format!("{name}: {} points, temporality {temporality}, monotonic {is_monotonic}", of_metric.len()));
    }
    for mut point in of_metric {
        (point.metric, point.unit, point.is_delta) = (name.clone(), unit.clone(), temporality == 1);
        points.push(point);
    }
    Ok(())
}

/// A data point of a gauge (5), a sum (7), a histogram (9) or an exponential one (10).
fn point(kind: u64, message: &[u8]) -> Result<Point, String> {
    let mut point = Point {
        metric: String::new(),
        unit: String::new(),
        attributes: Vec::new(),
        start_ns: 0,
        time_ns: 0,
        is_delta: false,
        value: PointValue::Gauge(f64::NAN),
    };
    point.attributes = attributes(
        message,
        match kind {
            9 => 9,
            10 => 1,
            _ => 7,
        },
    )?;
    let (mut count, mut sum, mut min, mut max) = (None, None, None, None);
    let (mut bounds, mut counts, mut number_value) = (Vec::new(), Vec::new(), None);
    let (mut scale, mut zeros, mut offset, mut negative) = (0, 0, 0, 0);
    for (number, value) in fields(message)? {
        match (kind, number, value) {
            (_, 2, Value::Fixed64(value)) => point.start_ns = value,
            (_, 3, Value::Fixed64(value)) => point.time_ns = value,
            (5 | 7, 7, _) | (9, 9, _) | (10, 1, _) => {}
            (5, 4, Value::Fixed64(value)) => number_value = Some(PointValue::Gauge(f64::from_bits(value))),
            (7, 4, Value::Fixed64(value)) => number_value = Some(PointValue::Sum(f64::from_bits(value))),
            (7, 6, Value::Fixed64(value)) => number_value = Some(PointValue::Count(value as i64)),
            (9 | 10, 4, Value::Fixed64(value)) => count = Some(value),
            (9 | 10, 5, Value::Fixed64(value)) => sum = Some(f64::from_bits(value)),
            (9, 6, Value::Bytes(value)) => counts = fixed64s(value)?,
            (9, 7, Value::Bytes(value)) => bounds = fixed64s(value)?.into_iter().map(f64::from_bits).collect(),
            (9, 11, Value::Fixed64(value)) | (10, 12, Value::Fixed64(value)) => min = Some(f64::from_bits(value)),
            (9, 12, Value::Fixed64(value)) | (10, 13, Value::Fixed64(value)) => max = Some(f64::from_bits(value)),
            (10, 6, Value::Varint(value)) => scale = zigzag(value),
            (10, 7, Value::Fixed64(value)) => zeros = value,
            (10, 8, Value::Bytes(value)) => (offset, counts) = buckets(value)?,
            (10, 9, Value::Bytes(value)) => negative = buckets(value)?.1.iter().sum(),
            (10, 14, Value::Fixed64(value)) if f64::from_bits(value) < 1e-30 => {}
            (_, number, value) => return Err(format!("field {number} of a data point: {value:?}")),
        }
    }
    if point.time_ns == 0 || kind != 5 && (point.start_ns == 0 || point.start_ns >= point.time_ns) {
        return Err(format!("a data point from {} to {}", point.start_ns, point.time_ns));
    }
    if let 5 | 7 = kind {
        // Zero is not on the wire where it is a default, but a value is never one.
        point.value = number_value.ok_or("a data point without a value")?;
        return Ok(point);
    }
    let (Some(count), Some(sum), Some(min), Some(max)) = (count, sum, min, max) else {
        return Err("a histogram without count, sum, minimum or maximum".to_owned());
    };
    if zeros + negative + counts.iter().sum::<u64>() != count || min > max {
        return Err(format!("{counts:?} are not {count}, or {min} is above {max}"));
    }
    if kind == 9 && (counts.len() != bounds.len() + 1 || !bounds.is_sorted()) {
        return Err(format!("{} counts between {bounds:?}", counts.len()));
    }
    point.value = if kind == 9 {
        PointValue::Histogram { count, sum, min, max, bounds, counts }
    } else {
        if !(-10..=20).contains(&scale) {
            return Err(format!("scale {scale}"));
        }
        PointValue::Exponential { count, sum, min, max, scale, zeros, offset, counts }
    };
    Ok(point)
}

fn buckets(message: &[u8]) -> Result<(i64, Vec<u64>), String> {
    let (mut offset, mut counts) = (0, Vec::new());
    for (number, value) in fields(message)? {
        match (number, value) {
            (1, Value::Varint(value)) => offset = zigzag(value),
            (2, Value::Bytes(value)) => counts = varints(value)?,
            (other, value) => return Err(format!("field {other} of buckets: {value:?}")),
        }
    }
    Ok((offset, counts))
}

fn span(message: &[u8]) -> Result<SpanSeen, String> {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let mut span = SpanSeen {
        trace: String::new(),
        id: String::new(),
        parent: String::new(),
        name: String::new(),
        kind: 0,
        start_ns: 0,
        end_ns: 0,
        attributes: attributes(message, 9)?,
        status: 0,
        message: String::new(),
    };
    for (number, value) in fields(message)? {
        match (number, value) {
            (1, Value::Bytes(value)) if value.len() == 16 => span.trace = hex(value),
            (2, Value::Bytes(value)) if value.len() == 8 => span.id = hex(value),
            (4, Value::Bytes(value)) if value.len() == 8 => span.parent = hex(value),
            (5, value) => span.name = text(value)?,
            (6, Value::Varint(value)) => span.kind = value,
            (7, Value::Fixed64(value)) => span.start_ns = value,
            (8, Value::Fixed64(value)) => span.end_ns = value,
            (9, _) | (16, Value::Fixed32(_)) => {}
            (15, Value::Bytes(value)) => {
                for (number, value) in fields(value)? {
                    match (number, value) {
                        (2, value) => span.message = text(value)?,
                        (3, Value::Varint(value)) => span.status = value,
                        (other, value) => return Err(format!("field {other} of a status: {value:?}")),
                    }
                }
            }
            (other, value) => return Err(format!("field {other} of a span: {value:?}")),
        }
    }
    let is_zero = |id: &str| id.bytes().all(|digit| digit == b'0');
    if is_zero(&span.trace) || is_zero(&span.id) || span.name.is_empty() {
        return Err(format!("a span without trace, id or name: {span:?}"));
    }
    if span.start_ns == 0 || span.end_ns < span.start_ns {
        return Err(format!("a span from {} to {}", span.start_ns, span.end_ns));
    }
    Ok(span)
}

/// The attributes of a message, in this field of it: names are there once.
fn attributes(message: &[u8], field: u64) -> Result<Attributes, String> {
    let mut attributes: Attributes = Vec::new();
    for (number, value) in fields(message)? {
        if number != field {
            continue;
        }
        let (mut name, mut said) = (String::new(), None);
        for (number, value) in fields(bytes(value)?)? {
            match number {
                1 => name = text(value)?,
                2 => {
                    for (number, value) in fields(bytes(value)?)? {
                        said = Some(match (number, value) {
                            (1, value) => text(value)?,
                            (3, Value::Varint(value)) => (value as i64).to_string(),
                            (other, value) => return Err(format!("value {other}: {value:?}")),
                        });
                    }
                }
                other => return Err(format!("field {other} of an attribute")),
            }
        }
        if name.is_empty() || attributes.iter().any(|(known, _)| *known == name) {
            return Err(format!("an attribute named {name:?}, beside {attributes:?}"));
        }
        attributes.push((name.clone(), said.ok_or_else(|| format!("{name} says nothing"))?));
    }
    Ok(attributes)
}

fn bytes(value: Value<'_>) -> Result<&[u8], String> {
    match value {
        Value::Bytes(bytes) => Ok(bytes),
        other => Err(format!("{other:?} is no message")),
    }
}

fn text(value: Value<'_>) -> Result<String, String> {
    String::from_utf8(bytes(value)?.to_vec()).map_err(|error| error.to_string())
}
