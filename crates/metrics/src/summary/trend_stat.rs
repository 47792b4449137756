//! The options that say how the summary shows trends: `summaryTrendStats` and `summaryTimeUnit`.

use std::sync::Arc;

use super::input::TrendStats;

/// A column of the summary: one number computed from a trend.
#[derive(Clone, Debug, PartialEq)]
pub struct TrendStat {
    name: Arc<str>,
    kind: TrendStatKind,
}

/// What a [`TrendStat`] computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TrendStatKind {
    /// Arithmetic mean.
    Avg,
    /// Smallest value.
    Min,
    /// The 50th percentile.
    Med,
    /// Largest value.
    Max,
    /// Number of values.
    Count,
    /// A percentile, 0 to 100.
    Percentile(f64),
}

/// Why an entry of `summaryTrendStats` is refused. The texts are k6's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrendStatError {
    /// Neither a known name nor `p(…)`.
    #[error("invalid trend stat '{0}', unknown format")]
    Format(String),
    /// `p(…)` around something that is no number from 0 to 100.
    #[error("invalid percentile trend stat value '{0}', provide a number between 0 and 100")]
    Percentile(String),
}

impl TrendStat {
    /// Parses one of `avg`, `min`, `med`, `max`, `count` and `p(N)`.
    ///
    /// # Errors
    /// See [`TrendStatError`].
    pub fn parse(text: &str) -> Result<Self, TrendStatError> {
        let kind = match text {
            "avg" => TrendStatKind::Avg,
            "min" => TrendStatKind::Min,
            "med" => TrendStatKind::Med,
            "max" => TrendStatKind::Max,
            "count" => TrendStatKind::Count,
            _ => {
                let inner = text.strip_prefix("p(").and_then(|rest| rest.strip_suffix(')'));
                let inner = inner.ok_or_else(|| TrendStatError::Format(text.to_owned()))?;
                // NaN is in no range.
                let percent = inner.parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent));
                TrendStatKind::Percentile(percent.ok_or_else(|| TrendStatError::Percentile(text.to_owned()))?)
            }
        };
        Ok(Self { name: text.into(), kind })
    }

    /// Parses a list and stops at its first bad entry, as k6 does.
    ///
    /// # Errors
    /// See [`TrendStatError`].
    pub fn parse_list<S: AsRef<str>>(texts: &[S]) -> Result<Vec<Self>, TrendStatError> {
        texts.iter().map(|text| Self::parse(text.as_ref())).collect()
    }

    /// What is shown unless the user chooses: `avg, min, med, max, p(90), p(95)`.
    pub fn defaults() -> Vec<Self> {
        use TrendStatKind::{Avg, Max, Med, Min, Percentile};
        [
            ("avg", Avg),
            ("min", Min),
            ("med", Med),
            ("max", Max),
            ("p(90)", Percentile(90.0)),
            ("p(95)", Percentile(95.0)),
        ]
        .into_iter()
        .map(|(name, kind)| Self { name: name.into(), kind })
        .collect()
    }

    /// The text it was written as, which is also its label: `p(99.90)` stays so.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it computes.
    pub fn kind(&self) -> TrendStatKind {
        self.kind
    }

    /// Whether its value is a number of values, whatever the trend holds.
    pub(super) fn is_count(&self) -> bool {
        self.kind == TrendStatKind::Count
    }

    /// Its value for a trend, in the trend's unit.
    pub fn of(&self, trend: &dyn TrendStats) -> f64 {
        match self.kind {
            TrendStatKind::Avg => trend.avg(),
            TrendStatKind::Min => trend.min(),
            TrendStatKind::Med => trend.med(),
            TrendStatKind::Max => trend.max(),
            TrendStatKind::Count => trend.count() as f64,
            TrendStatKind::Percentile(percent) => trend.quantile(percent / 100.0),
        }
    }
}

/// The fixed unit durations are printed in, if the user chose one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// `s`
    Seconds,
    /// `ms`
    Milliseconds,
    /// `us`, printed `µs`
    Microseconds,
}

/// Why `summaryTimeUnit` is refused. The text is k6's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid summary time unit '{0}', use 's', 'ms' or 'us'")]
pub struct TimeUnitError(String);

impl TimeUnit {
    /// Parses the option; empty text means that each value chooses its unit.
    ///
    /// # Errors
    /// If it is none of `s`, `ms`, `us`.
    pub fn parse(text: &str) -> Result<Option<Self>, TimeUnitError> {
        match text {
            "" => Ok(None),
            "s" => Ok(Some(Self::Seconds)),
            "ms" => Ok(Some(Self::Milliseconds)),
            "us" => Ok(Some(Self::Microseconds)),
            _ => Err(TimeUnitError(text.to_owned())),
        }
    }

    /// The option's text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stats() {
        let check = |text: &str, expect: Result<TrendStatKind, &str>| {
            let parsed = TrendStat::parse(text).map(|stat| stat.kind()).map_err(|error| error.to_string());
            assert_eq!(parsed, expect.map_err(str::to_owned), "{text:?}");
        };
        check("avg", Ok(TrendStatKind::Avg));
        check("count", Ok(TrendStatKind::Count));
        check("p(99.90)", Ok(TrendStatKind::Percentile(99.9)));
        check("p(.5)", Ok(TrendStatKind::Percentile(0.5)));
        check("p(1e1)", Ok(TrendStatKind::Percentile(10.0)));
        check("p(+5)", Ok(TrendStatKind::Percentile(5.0)));
        check("p(100)", Ok(TrendStatKind::Percentile(100.0)));
        check("p(101)", Err("invalid percentile trend stat value 'p(101)', provide a number between 0 and 100"));
        check("p(-1)", Err("invalid percentile trend stat value 'p(-1)', provide a number between 0 and 100"));
        check("p()", Err("invalid percentile trend stat value 'p()', provide a number between 0 and 100"));
        check("p( 7)", Err("invalid percentile trend stat value 'p( 7)', provide a number between 0 and 100"));
        check("p(abc)", Err("invalid percentile trend stat value 'p(abc)', provide a number between 0 and 100"));
        check("p(inf)", Err("invalid percentile trend stat value 'p(inf)', provide a number between 0 and 100"));
        // k6: this one panics there.
        check("p(NaN)", Err("invalid percentile trend stat value 'p(NaN)', provide a number between 0 and 100"));
        check("P(9)", Err("invalid trend stat 'P(9)', unknown format"));
        check("avg ", Err("invalid trend stat 'avg ', unknown format"));
        check("p(9", Err("invalid trend stat 'p(9', unknown format"));
        check("p(99)x", Err("invalid trend stat 'p(99)x', unknown format"));
        check("", Err("invalid trend stat '', unknown format"));
        check("mean", Err("invalid trend stat 'mean', unknown format"));
    }

    #[test]
    fn lists_stop_at_the_first_error() {
        let error = TrendStat::parse_list(&["avg", "p(101)", "foo"]).expect_err("p(101) is out of range");
        assert_eq!(error, TrendStatError::Percentile("p(101)".to_owned()));
        let names: Vec<_> = TrendStat::defaults().iter().map(|stat| stat.name().to_owned()).collect();
        assert_eq!(TrendStat::parse_list(&names), Ok(TrendStat::defaults()));
    }

    #[test]
    fn time_units() {
        for unit in [TimeUnit::Seconds, TimeUnit::Milliseconds, TimeUnit::Microseconds] {
            assert_eq!(TimeUnit::parse(unit.as_str()), Ok(Some(unit)));
        }
        assert_eq!(TimeUnit::parse(""), Ok(None));
        let error = TimeUnit::parse("x").expect_err("no such unit");
        assert_eq!(error.to_string(), "invalid summary time unit 'x', use 's', 'ms' or 'us'");
    }
}
