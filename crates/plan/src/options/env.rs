//! Options from `K6_*` variables. The caller hands in the lookup: nothing here reads the process's environment.

use std::collections::BTreeMap;

use super::json::{OptionsError, decode};
use super::{DnsConfig, Options, SystemTags, ThresholdConfig, text, tls};
use crate::duration::parse_extended_duration;

/// Reads the environment tier. A variable that is unset does not count; an empty one is unset where it means a number,
/// a switch or a duration, and an empty list or map otherwise.
///
/// Durations use the extended grammar: a bare number is milliseconds.
///
/// # Errors
/// [`OptionsError`] with the variable's name as its path.
pub fn from_env(get: &dyn Fn(&str) -> Option<String>) -> Result<Options, OptionsError> {
    let env = Env { get };
    Ok(Options {
        paused: env.switch("K6_PAUSED")?,
        vus: env.int("K6_VUS")?,
        duration: env.duration("K6_DURATION")?,
        iterations: env.int("K6_ITERATIONS")?,
        stages: env.read("K6_STAGES", stages)?,
        no_setup: env.switch("K6_NO_SETUP")?,
        setup_timeout: env.duration("K6_SETUP_TIMEOUT")?,
        no_teardown: env.switch("K6_NO_TEARDOWN")?,
        teardown_timeout: env.duration("K6_TEARDOWN_TIMEOUT")?,
        handle_summary_timeout: env.duration("K6_HANDLE_SUMMARY_TIMEOUT")?,
        rps: env.int("K6_RPS")?,
        dns: env.read("K6_DNS", DnsConfig::parse)?.unwrap_or_default(),
        max_redirects: env.int("K6_MAX_REDIRECTS")?,
        user_agent: env.text("K6_USER_AGENT"),
        batch: env.int("K6_BATCH")?,
        batch_per_host: env.int("K6_BATCH_PER_HOST")?,
        http_debug: env.text("K6_HTTP_DEBUG"),
        insecure_skip_tls_verify: env.switch("K6_INSECURE_SKIP_TLS_VERIFY")?,
        tls_cipher_suites: env.read("K6_TLS_CIPHER_SUITES", |t| tls::checked_suites(text::list(t)))?,
        tls_auth: env.json("K6_TLSAUTH")?,
        throw: env.switch("K6_THROW")?,
        thresholds: env.read_filled("K6_THRESHOLDS", thresholds)?.flatten(),
        blacklist_ips: env.read("K6_BLACKLIST_IPS", |t| text::list(t).iter().map(|c| c.parse()).collect())?,
        block_hostnames: env.read("K6_BLOCK_HOSTNAMES", |t| super::hosts::checked_patterns(text::list(t)))?,
        hosts: env
            .json::<BTreeMap<String, super::HostTarget>>("K6_HOSTS")?
            .map(|hosts| super::hosts::checked_targets(hosts).map_err(|e| OptionsError::new("K6_HOSTS", e)))
            .transpose()?,
        no_connection_reuse: env.switch("K6_NO_CONNECTION_REUSE")?,
        no_vu_connection_reuse: env.switch("K6_NO_VU_CONNECTION_REUSE")?,
        http2_prior_knowledge: env.switch("ONRUSH_HTTP2_PRIOR_KNOWLEDGE")?,
        tls_session_resumption: env.switch("ONRUSH_TLS_SESSION_RESUMPTION")?,
        min_iteration_duration: env.duration("K6_MIN_ITERATION_DURATION")?,
        summary_trend_stats: env.get("K6_SUMMARY_TREND_STATS").map(|t| text::list(&t)),
        summary_time_unit: env.read("K6_SUMMARY_TIME_UNIT", text::time_unit)?,
        system_tags: env.get("K6_SYSTEM_TAGS").map(|t| SystemTags::of(t.split(',').map(str::trim))),
        tags: env.read("K6_TAGS", text::map)?,
        metric_samples_buffer_size: env.int("K6_METRIC_SAMPLES_BUFFER_SIZE")?,
        cardinality_limit: env.int("ONRUSH_CARDINALITY_LIMIT")?,
        no_cookies_reset: env.switch("K6_NO_COOKIES_RESET")?,
        discard_response_bodies: env.switch("K6_DISCARD_RESPONSE_BODIES")?,
        console_output: env.text("K6_CONSOLE_OUTPUT"),
        local_ips: env.read_filled("K6_LOCAL_IPS", |t| t.parse())?,
        // Not settable from the environment: scenarios, segments, tlsVersion, ext, cloud.
        ..Options::default()
    })
}

fn stages(value: &str) -> Result<Vec<super::StageConfig>, String> {
    let mut stages = Vec::new();
    for item in value.split(',').filter(|item| !item.is_empty()) {
        let stage = text::stage(item, parse_extended_duration)?;
        // k6: a stage without a duration is left out without a word.
        if stage.duration.is_some() {
            stages.push(stage);
        }
    }
    Ok(stages)
}

/// The JSON of the option.
fn thresholds(text: &str) -> Result<Option<BTreeMap<String, Vec<ThresholdConfig>>>, String> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let options: Result<Options, _> = decode(serde_json::json!({ "thresholds": value }), "");
    options.map(|options| options.thresholds).map_err(|error| error.to_string())
}

struct Env<'a> {
    get: &'a dyn Fn(&str) -> Option<String>,
}

impl Env<'_> {
    fn get(&self, name: &str) -> Option<String> {
        (self.get)(name)
    }

    fn text(&self, name: &str) -> Option<String> {
        self.get(name).filter(|value| !value.is_empty())
    }

    fn read<T>(&self, name: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, OptionsError> {
        self.get(name).map(|value| parse(&value).map_err(|e| OptionsError::new(name, e))).transpose()
    }

    fn read_filled<T>(&self, name: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, OptionsError> {
        self.text(name).map(|value| parse(&value).map_err(|e| OptionsError::new(name, e))).transpose()
    }

    fn int(&self, name: &str) -> Result<Option<i64>, OptionsError> {
        self.read_filled(name, |value| value.parse().map_err(|_| format!("{value:?} is not a whole number")))
    }

    fn duration(&self, name: &str) -> Result<Option<crate::GoDuration>, OptionsError> {
        self.read_filled(name, |value| parse_extended_duration(value).map_err(|e| e.to_string()))
    }

    fn switch(&self, name: &str) -> Result<Option<bool>, OptionsError> {
        self.read_filled(name, |value| match value {
            "true" => Ok(true),
            "false" => Ok(false),
            other => Err(format!("{other:?} is not a valid boolean value: use true or false")),
        })
    }

    fn json<T: serde::de::DeserializeOwned>(&self, name: &str) -> Result<Option<T>, OptionsError> {
        self.read_filled(name, |value| {
            serde_json::from_str(value).map_err(|e| format!("{e}; the value is JSON, as in the config file"))
        })
    }
}
