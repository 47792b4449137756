//! Execution segments as text: `20%`, `1/4:1/2`, `0,1/4,1/2,1`. What a segment *owns* is in `stripe`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ratio::Ratio;

/// A part `(from, to]` of the whole test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Segment {
    from: Ratio,
    to: Ratio,
}

impl Segment {
    /// The whole test.
    pub const FULL: Self = Self { from: Ratio::ZERO, to: Ratio::ONE };

    /// The part from `from` to `to`.
    ///
    /// # Errors
    /// When it is empty or ends after 1.
    pub fn new(from: Ratio, to: Ratio) -> Result<Self, SegmentError> {
        if from >= to {
            return Err(SegmentError::Empty { from: from.as_f64(), to: to.as_f64() });
        }
        if to > Ratio::ONE {
            return Err(SegmentError::EndAbove { to: to.as_f64() });
        }
        Ok(Self { from, to })
    }

    /// Where it starts.
    #[must_use]
    pub fn from(&self) -> Ratio {
        self.from
    }

    /// Where it ends.
    #[must_use]
    pub fn to(&self) -> Ratio {
        self.to
    }

    /// Its share of the whole test; `None` when the exact difference does not fit.
    #[must_use]
    pub fn length(&self) -> Option<Ratio> {
        self.to.checked_sub(self.from)
    }
}

impl FromStr for Segment {
    type Err = SegmentError;

    fn from_str(text: &str) -> Result<Self, SegmentError> {
        let (from, to) = match text {
            "" => (Point { num: 0, den: 1 }, Point { num: 1, den: 1 }),
            _ => match text.split_once(':') {
                Some((from, to)) => (Point::parse(from)?, Point::parse(to)?),
                None => (Point { num: 0, den: 1 }, Point::parse(text)?),
            },
        };
        Self::between(from, to)
    }
}

impl Segment {
    fn between(from: Point, to: Point) -> Result<Self, SegmentError> {
        if from.num < 0 {
            return Err(SegmentError::StartBelow { from: from.as_f64() });
        }
        let (Some(start), Some(end)) = (from.ratio(), to.ratio()) else {
            return Err(SegmentError::Empty { from: from.as_f64(), to: to.as_f64() });
        };
        Self::new(start, end)
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.from, self.to)
    }
}

/// Consecutive segments, all instances of one test together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SegmentSequence {
    segments: Vec<Segment>,
}

impl SegmentSequence {
    /// The segments, in order.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The sequence `segment` is part of when none was given: what is missing before and after it is added.
    #[must_use]
    pub fn around(segment: Segment) -> Self {
        Self { segments: vec![segment] }.filled()
    }

    /// With the missing ends added, so that it covers the whole test.
    #[must_use]
    pub fn filled(mut self) -> Self {
        match (self.segments.first().copied(), self.segments.last().copied()) {
            (Some(first), Some(last)) => {
                if first.from > Ratio::ZERO {
                    self.segments.insert(0, Segment { from: Ratio::ZERO, to: first.from });
                }
                if last.to < Ratio::ONE {
                    self.segments.push(Segment { from: last.to, to: Ratio::ONE });
                }
            }
            _ => self.segments.push(Segment::FULL),
        }
        self
    }

    /// Splits the whole test into `parts` equal segments, as an even cluster does.
    ///
    /// # Errors
    /// When `parts` is 0.
    pub fn even(parts: u64) -> Result<Self, SegmentError> {
        Self::between((0..=parts).collect())
    }

    /// Splits the whole test into segments as large as these weights say.
    ///
    /// # Errors
    /// When there are none, or one is 0.
    pub fn weighted(weights: &[u64]) -> Result<Self, SegmentError> {
        let mut points = vec![0_u64];
        let mut sum = 0_u64;
        for weight in weights {
            sum = sum.checked_add(*weight).filter(|_| *weight > 0).ok_or(SegmentError::TooFewPoints(weights.len()))?;
            points.push(sum);
        }
        Self::between(points)
    }

    /// The segments between points that ascend from 0, as parts of the last one.
    fn between(points: Vec<u64>) -> Result<Self, SegmentError> {
        let whole = points.last().copied().unwrap_or_default();
        let segment =
            |ends: &[u64]| Some(Segment { from: Ratio::new(ends[0], whole)?, to: Ratio::new(ends[1], whole)? });
        let segments: Option<Vec<Segment>> = points.windows(2).map(segment).collect();
        let segments = segments.filter(|segments| !segments.is_empty()).ok_or(SegmentError::TooFewPoints(0))?;
        Ok(Self { segments })
    }
}

impl FromStr for SegmentSequence {
    type Err = SegmentError;

    fn from_str(text: &str) -> Result<Self, SegmentError> {
        if text.is_empty() {
            return Ok(Self { segments: Vec::new() });
        }
        let points = text.split(',').map(Point::parse).collect::<Result<Vec<_>, _>>()?;
        if points.len() < 2 {
            return Err(SegmentError::TooFewPoints(points.len()));
        }
        let segments = points.windows(2).map(|pair| Segment::between(pair[0], pair[1])).collect::<Result<_, _>>()?;
        Ok(Self { segments })
    }
}

impl fmt::Display for SegmentSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(first) = self.segments.first() {
            write!(f, "{}", first.from)?;
        }
        for segment in &self.segments {
            write!(f, ",{}", segment.to)?;
        }
        Ok(())
    }
}

macro_rules! text_serde {
    ($type:ty) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

text_serde!(Segment);
text_serde!(SegmentSequence);

/// Why a segment or sequence was refused. The texts are k6's where it has one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SegmentError {
    /// Something before `%` that is not a whole number.
    #[error("'{0}' is not a valid percentage")]
    Percentage(String),
    /// Neither percentage, decimal nor fraction.
    #[error("'{0}' is not a valid percentage, decimal, fraction or interval value")]
    Value(String),
    /// A start below 0.
    #[error("segment start value must be at least 0 but was {from:.2}")]
    StartBelow {
        /// The start.
        from: f64,
    },
    /// No length.
    #[error("segment start({from:.2}) must be less than its end({to:.2})")]
    Empty {
        /// The start.
        from: f64,
        /// The end.
        to: f64,
    },
    /// An end above 1.
    #[error("segment end value can't be more than 1 but was {to:.2}")]
    EndAbove {
        /// The end.
        to: f64,
    },
    /// A sequence of fewer than two points.
    #[error("at least 2 points are needed for an execution segment sequence, {0} given")]
    TooFewPoints(usize),
    /// The instance's own segment is not in the sequence.
    #[error("provided segment {segment} can't be found in sequence {sequence}")]
    NotInSequence {
        /// The own segment.
        segment: String,
        /// The sequence as given.
        sequence: String,
    },
    /// A share has no such part, or one that is too small.
    #[error("a share cannot be divided into {of} parts of which this is number {index}")]
    Part {
        /// Which part.
        index: u64,
        /// How many there should be.
        of: u64,
    },
    /// The sequence repeats only after more items than the stripe table may hold.
    #[error("the execution segments are too fine to divide the work: their pattern has {0} parts, the limit is {max}", max = crate::stripe::STRIPE_PARTS_MAX)]
    TooFine(u128),
}

/// One end of a segment as written; may still be out of range.
#[derive(Clone, Copy)]
struct Point {
    num: i128,
    den: u64,
}

impl Point {
    fn parse(text: &str) -> Result<Self, SegmentError> {
        if let Some(number) = text.strip_suffix('%') {
            let percent: i64 = number.parse().map_err(|_| SegmentError::Percentage(text.to_owned()))?;
            return Ok(Self { num: i128::from(percent), den: 100 });
        }
        Self::parse_rational(text).ok_or_else(|| SegmentError::Value(text.to_owned()))
    }

    fn parse_rational(text: &str) -> Option<Self> {
        if let Some((num, den)) = text.split_once('/') {
            let num: i64 = num.parse().ok()?;
            let den: u64 = if den.starts_with('+') { None } else { den.parse().ok() }?;
            return (den > 0).then_some(Self { num: i128::from(num), den });
        }
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (negative, digits) = match mantissa.as_bytes().first()? {
            b'-' => (true, &mantissa[1..]),
            b'+' => (false, &mantissa[1..]),
            _ => (false, mantissa),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.len() + fraction.len() > DECIMAL_DIGITS_MAX || whole.len() + fraction.len() == 0 {
            return None;
        }
        let all = format!("{whole}{fraction}");
        if !all.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let value: i128 = all.parse().ok()?;
        let shift = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?;
        let (num, den) = if shift >= 0 {
            (value.checked_mul(10_i128.checked_pow(shift.unsigned_abs())?)?, 1)
        } else {
            (value, 10_u64.checked_pow(shift.unsigned_abs())?)
        };
        Some(Self { num: if negative { -num } else { num }, den })
    }

    fn as_f64(self) -> f64 {
        self.num as f64 / self.den as f64
    }

    fn ratio(self) -> Option<Ratio> {
        Ratio::new(u64::try_from(self.num).ok()?, self.den)
    }
}

/// 18 digits fit an `i64`; a finer share of a test than 10^-18 means nothing.
const DECIMAL_DIGITS_MAX: usize = 18;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let got = text.parse::<Segment>().map_or_else(|e| e.to_string(), |s| s.to_string());
        assert_eq!(got, expect, "segment {text:?}");
    }

    fn check_sequence(text: &str, expect: &str) {
        let got = text.parse::<SegmentSequence>().map_or_else(|e| e.to_string(), |s| s.to_string());
        assert_eq!(got, expect, "sequence {text:?}");
    }

    #[test]
    fn segment_texts() {
        check("", "0:1");
        check("20%", "0:1/5");
        check("0.2", "0:1/5");
        check("1/5", "0:1/5");
        check("2/4", "0:1/2");
        check("+1/2", "0:1/2");
        check(".5", "0:1/2");
        check("1e-1", "0:1/10");
        check("25%:1/2", "1/4:1/2");
        check("1/3:66%", "1/3:33/50");
        check("10.5%", "'10.5%' is not a valid percentage");
        check("1_0%", "'1_0%' is not a valid percentage");
        check("x", "'x' is not a valid percentage, decimal, fraction or interval value");
        check("1/0", "'1/0' is not a valid percentage, decimal, fraction or interval value");
        check("0.5/1", "'0.5/1' is not a valid percentage, decimal, fraction or interval value");
        check(" 1/2", "' 1/2' is not a valid percentage, decimal, fraction or interval value");
        check(":", "'' is not a valid percentage, decimal, fraction or interval value");
        check("1:2:3", "'2:3' is not a valid percentage, decimal, fraction or interval value");
        check("1/2:1/4", "segment start(0.50) must be less than its end(0.25)");
        check("0", "segment start(0.00) must be less than its end(0.00)");
        check("1/2:3/2", "segment end value can't be more than 1 but was 1.50");
        check("-1/2:1/2", "segment start value must be at least 0 but was -0.50");
        check("0:-1/2", "segment start(0.00) must be less than its end(-0.50)");
    }

    #[test]
    fn sequence_texts() {
        check_sequence("", "");
        check_sequence("0,1", "0,1");
        check_sequence("0,25%,1/2,1", "0,1/4,1/2,1");
        check_sequence("0", "at least 2 points are needed for an execution segment sequence, 1 given");
        check_sequence("0,1/2,1/4", "segment start(0.50) must be less than its end(0.25)");
        check_sequence("0,x,1", "'x' is not a valid percentage, decimal, fraction or interval value");
        check_sequence("0,1/2,3/2", "segment end value can't be more than 1 but was 1.50");
    }

    #[test]
    fn missing_ends_are_added() {
        let middle: Segment = "1/4:1/2".parse().unwrap();
        assert_eq!(SegmentSequence::around(middle).to_string(), "0,1/4,1/2,1");
        assert_eq!(SegmentSequence::around(Segment::FULL).to_string(), "0,1");
        assert_eq!("".parse::<SegmentSequence>().unwrap().filled().to_string(), "0,1");
        assert_eq!(SegmentSequence::even(3).unwrap().to_string(), "0,1/3,2/3,1");
        assert!(SegmentSequence::even(0).is_err());
        assert_eq!(SegmentSequence::weighted(&[1, 1, 1]), SegmentSequence::even(3));
        assert_eq!(SegmentSequence::weighted(&[35, 35, 30]).unwrap().to_string(), "0,7/20,7/10,1");
        for bad in [&[][..], &[1, 0], &[u64::MAX, 1]] {
            assert!(SegmentSequence::weighted(bad).is_err(), "{bad:?}");
        }
    }
}
