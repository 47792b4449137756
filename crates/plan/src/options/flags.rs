//! Options from command-line flags. The caller hands in each flag's values; the flags themselves are the terminal's.

use std::collections::BTreeMap;

use super::json::OptionsError;
use super::{DnsConfig, Options, SystemTags, text};
use crate::duration::parse_go_duration;

/// Reads the command-line tier. `values` gives all values of a flag in their order, by its long name without dashes
/// (`vus`, `summary-trend-stats`); none when the flag was not given. A switch without a value is `true`, `http-debug`
/// without one is `headers`.
///
/// Durations need a unit, as in Go.
///
/// # Errors
/// [`OptionsError`] with the flag as its path.
pub fn from_flags(values: &dyn Fn(&str) -> Vec<String>) -> Result<Options, OptionsError> {
    let flags = Flags { values };
    Ok(Options {
        paused: flags.switch("paused")?,
        vus: flags.int("vus")?,
        duration: flags.duration("duration")?,
        iterations: flags.int("iterations")?,
        stages: stages(&flags)?,
        execution_segment: flags.read("execution-segment", |t| t.parse().map_err(|e| format!("{e}")))?,
        execution_segment_sequence: flags
            .read("execution-segment-sequence", |t| t.parse().map_err(|e| format!("{e}")))?,
        no_setup: flags.switch("no-setup")?,
        no_teardown: flags.switch("no-teardown")?,
        rps: flags.int("rps")?,
        dns: flags.read("dns", DnsConfig::parse)?.unwrap_or_default(),
        max_redirects: flags.int("max-redirects")?,
        user_agent: flags.last("user-agent"),
        batch: flags.int("batch")?,
        batch_per_host: flags.int("batch-per-host")?,
        http_debug: flags.last("http-debug").map(|v| if v.is_empty() { "headers".to_owned() } else { v }),
        insecure_skip_tls_verify: flags.switch("insecure-skip-tls-verify")?,
        throw: flags.switch("throw")?,
        blacklist_ips: flags.list("blacklist-ip", |items| {
            items
                .iter()
                .map(|item| item.parse().map_err(|e| format!("error parsing blacklist-ip '{item}': {e}")))
                .collect()
        })?,
        block_hostnames: flags.list("block-hostnames", super::hosts::checked_patterns)?,
        no_connection_reuse: flags.switch("no-connection-reuse")?,
        no_vu_connection_reuse: flags.switch("no-vu-connection-reuse")?,
        http2_prior_knowledge: flags.switch("http2-prior-knowledge")?,
        tls_session_resumption: flags.switch("tls-session-resumption")?,
        min_iteration_duration: flags.duration("min-iteration-duration")?,
        summary_trend_stats: flags.list("summary-trend-stats", Ok)?,
        summary_time_unit: flags.read("summary-time-unit", text::time_unit)?,
        system_tags: flags.list("system-tags", |items| Ok(SystemTags::of(items.iter().map(String::as_str))))?,
        tags: tags(&flags)?,
        cardinality_limit: flags.int("cardinality-limit")?,
        discard_response_bodies: flags.switch("discard-response-bodies")?,
        // k6: an empty text is as no flag.
        console_output: flags.last("console-output").filter(|path| !path.is_empty()),
        local_ips: flags.read("local-ips", |t| if t.is_empty() { Ok(None) } else { t.parse().map(Some) })?.flatten(),
        // Without a flag: scenarios, timeouts, thresholds, hosts and the rest of the TLS options.
        ..Options::default()
    })
}

fn stages(flags: &Flags<'_>) -> Result<Option<Vec<super::StageConfig>>, OptionsError> {
    flags.list("stage", |items| {
        let mut stages = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            let stage = text::stage(item, parse_go_duration).map_err(|e| format!("error for stage {i}: {e}"))?;
            if stage.duration.is_none() {
                return Err(format!("stage {i} doesn't have a specified duration"));
            }
            stages.push(stage);
        }
        Ok(stages)
    })
}

fn tags(flags: &Flags<'_>) -> Result<Option<BTreeMap<String, String>>, OptionsError> {
    // k6: an empty text is as no flag.
    let given: Vec<String> = (flags.values)("tag").into_iter().filter(|tag| !tag.is_empty()).collect();
    if given.is_empty() {
        return Ok(None);
    }
    given
        .iter()
        .map(|item| text::tag(item))
        .collect::<Result<_, _>>()
        .map(Some)
        .map_err(|e| OptionsError::new("--tag", e))
}

struct Flags<'a> {
    values: &'a dyn Fn(&str) -> Vec<String>,
}

impl Flags<'_> {
    fn last(&self, name: &str) -> Option<String> {
        (self.values)(name).pop()
    }

    fn read<T>(&self, name: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, OptionsError> {
        self.last(name).map(|value| parse(&value).map_err(|e| OptionsError::new(format!("--{name}"), e))).transpose()
    }

    /// All values of a flag that repeats and is split at commas.
    fn list<T>(&self, name: &str, parse: impl Fn(Vec<String>) -> Result<T, String>) -> Result<Option<T>, OptionsError> {
        let given = (self.values)(name);
        if given.is_empty() {
            return Ok(None);
        }
        let items = given.iter().flat_map(|value| text::list(value)).collect();
        parse(items).map(Some).map_err(|e| OptionsError::new(format!("--{name}"), e))
    }

    fn int(&self, name: &str) -> Result<Option<i64>, OptionsError> {
        self.read(name, |value| value.parse().map_err(|_| format!("{value:?} is not a whole number")))
    }

    fn duration(&self, name: &str) -> Result<Option<crate::GoDuration>, OptionsError> {
        self.read(name, |value| parse_go_duration(value).map_err(|e| e.to_string()))
    }

    fn switch(&self, name: &str) -> Result<Option<bool>, OptionsError> {
        self.read(name, |value| match value {
            "" | "true" | "t" | "T" | "TRUE" | "True" | "1" => Ok(true),
            "false" | "f" | "F" | "FALSE" | "False" | "0" => Ok(false),
            other => Err(format!("{other:?} is not a valid boolean value: use true or false")),
        })
    }
}
