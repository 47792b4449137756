//! Every option k6 knows, as one tier may set it: everything is optional until the tiers are laid over each other.
//!
//! Reading is split by source: [`parse_json`] (script, config file, archive), [`from_env`], [`from_flags`]. Laying the
//! tiers over each other is [`consolidate`]; plain values with the defaults filled in are [`Settings`].

mod dns;
mod env;
mod flags;
mod hosts;
mod ips;
mod json;
mod scenario_config;
mod settings;
mod table;
mod tags;
mod text;
mod threshold;
mod tier;
mod tls;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use dns::{DnsConfig, DnsPolicy, DnsSelect};
pub use env::from_env;
pub use flags::from_flags;
pub use hosts::{HostTarget, lookup_host, matches_hostname};
pub use ips::{Cidr, IpPool};
pub use json::{OptionsError, Parsed, parse_json};
pub use scenario_config::{ExecutorConfig, ScenarioConfig};
pub use settings::Settings;
pub use table::{Area, FlagInfo, Kind, OPTIONS, OptionInfo, SCENARIO_FIELDS, ScenarioField};
pub use tags::SystemTags;
pub use threshold::ThresholdConfig;
pub use tier::{ConfigErrors, Consolidated, Tier, consolidate, consolidate_with_exports};
pub use tls::{TlsAuth, TlsVersion, TlsVersions};

pub(crate) use json::int;

use crate::duration::GoDuration;
pub use crate::executor::StageConfig;
use crate::segment::{Segment, SegmentSequence};

/// The options one tier sets, or all tiers together. `None` is "not set here".
///
/// Its JSON form is k6's: the same keys in the same order, `null` for what is not set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// Initialise the VUs, then wait to be resumed.
    pub paused: Option<bool>,
    /// Shortcut: number of VUs.
    #[serde(deserialize_with = "int")]
    pub vus: Option<i64>,
    /// Shortcut: duration of constant-vus.
    pub duration: Option<GoDuration>,
    /// Shortcut: number of shared iterations.
    #[serde(deserialize_with = "int")]
    pub iterations: Option<i64>,
    /// Shortcut: stages of ramping-vus.
    pub stages: Option<Vec<StageConfig>>,
    /// The scenarios by name.
    #[serde(skip_deserializing)]
    pub scenarios: Option<BTreeMap<String, ScenarioConfig>>,
    /// This instance's part of the test.
    pub execution_segment: Option<Segment>,
    /// The parts of all instances.
    pub execution_segment_sequence: Option<SegmentSequence>,
    /// Do not run `setup()`.
    pub no_setup: Option<bool>,
    /// How long `setup()` may take.
    pub setup_timeout: Option<GoDuration>,
    /// Do not run `teardown()`.
    pub no_teardown: Option<bool>,
    /// How long `teardown()` may take.
    pub teardown_timeout: Option<GoDuration>,
    /// How long `handleSummary()` may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handle_summary_timeout: Option<GoDuration>,
    /// Most HTTP requests a second on one instance; 0 is no limit.
    #[serde(deserialize_with = "int")]
    pub rps: Option<i64>,
    /// Name resolution.
    pub dns: DnsConfig,
    /// How many redirects are followed.
    #[serde(deserialize_with = "int")]
    pub max_redirects: Option<i64>,
    /// The `User-Agent` header.
    pub user_agent: Option<String>,
    /// Parallel requests of one `http.batch()`.
    #[serde(deserialize_with = "int")]
    pub batch: Option<i64>,
    /// Parallel requests of one `http.batch()` to one host.
    #[serde(deserialize_with = "int")]
    pub batch_per_host: Option<i64>,
    /// Log requests and responses: `full` with bodies, other text without.
    pub http_debug: Option<String>,
    /// Accept any certificate.
    #[serde(rename = "insecureSkipTLSVerify")]
    pub insecure_skip_tls_verify: Option<bool>,
    /// The cipher suites, by their Go names.
    #[serde(rename = "tlsCipherSuites")]
    #[serde(deserialize_with = "tls::cipher_suites")]
    pub tls_cipher_suites: Option<Vec<String>>,
    /// The TLS versions.
    #[serde(rename = "tlsVersion")]
    pub tls_version: Option<TlsVersions>,
    /// Client certificates.
    #[serde(rename = "tlsAuth")]
    pub tls_auth: Option<Vec<TlsAuth>>,
    /// HTTP errors become exceptions.
    pub throw: Option<bool>,
    /// Threshold expressions by metric; `onrush-metrics` parses them.
    #[serde(deserialize_with = "threshold::by_metric")]
    pub thresholds: Option<BTreeMap<String, Vec<ThresholdConfig>>>,
    /// Addresses that must not be connected to.
    #[serde(rename = "blacklistIPs")]
    pub blacklist_ips: Option<Vec<Cidr>>,
    /// Host names that must not be connected to; checked patterns.
    #[serde(deserialize_with = "hosts::patterns")]
    pub block_hostnames: Option<Vec<String>>,
    /// Static name resolution: checked patterns in lower case.
    #[serde(deserialize_with = "hosts::targets")]
    pub hosts: Option<BTreeMap<String, HostTarget>>,
    /// A new connection for every request.
    pub no_connection_reuse: Option<bool>,
    /// No connection outlives an iteration.
    #[serde(rename = "noVUConnectionReuse")]
    pub no_vu_connection_reuse: Option<bool>,
    /// HTTP/2 with `http://` servers, without asking them. Not in k6.
    #[serde(skip_serializing_if = "Option::is_none", rename = "http2PriorKnowledge")]
    pub http2_prior_knowledge: Option<bool>,
    /// A VU's connections resume its TLS sessions. Not in k6.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_session_resumption: Option<bool>,
    /// Shortest time from the start of an iteration to the next.
    pub min_iteration_duration: Option<GoDuration>,
    /// Cloud options; kept, not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cloud: Option<Value>,
    /// Options of extensions; kept, not used.
    pub ext: Option<BTreeMap<String, Value>>,
    /// Columns of trends in the summary.
    pub summary_trend_stats: Option<Vec<String>>,
    /// Unit of times in the summary; empty adapts.
    pub summary_time_unit: Option<String>,
    /// Which system tags samples get.
    pub system_tags: Option<SystemTags>,
    /// Tags for all samples of the test.
    #[serde(deserialize_with = "json::texts")]
    pub tags: Option<BTreeMap<String, String>>,
    /// Capacity between VUs and outputs.
    #[serde(deserialize_with = "int")]
    pub metric_samples_buffer_size: Option<i64>,
    /// Time series of the run from which on tag values are folded. Not in k6.
    #[serde(deserialize_with = "int", skip_serializing_if = "Option::is_none")]
    pub cardinality_limit: Option<i64>,
    /// Cookies outlive iterations.
    pub no_cookies_reset: Option<bool>,
    /// Bodies are not kept unless a request asks for them.
    pub discard_response_bodies: Option<bool>,
    /// Where console output goes; not from scripts.
    #[serde(skip_deserializing)]
    pub console_output: Option<String>,
    /// Addresses VUs connect from; not from scripts.
    #[serde(skip_deserializing, rename = "localIPs")]
    pub local_ips: Option<IpPool>,
}

/// The keys of an options object that k6 knows.
pub(super) const OPTION_KEYS: &[&str] = &[
    "paused",
    "vus",
    "duration",
    "iterations",
    "stages",
    "scenarios",
    "executionSegment",
    "executionSegmentSequence",
    "noSetup",
    "setupTimeout",
    "noTeardown",
    "teardownTimeout",
    "handleSummaryTimeout",
    "rps",
    "dns",
    "maxRedirects",
    "userAgent",
    "batch",
    "batchPerHost",
    "httpDebug",
    "insecureSkipTLSVerify",
    "tlsCipherSuites",
    "tlsVersion",
    "tlsAuth",
    "throw",
    "thresholds",
    "blacklistIPs",
    "blockHostnames",
    "hosts",
    "noConnectionReuse",
    "noVUConnectionReuse",
    "minIterationDuration",
    "cloud",
    "ext",
    "summaryTrendStats",
    "summaryTimeUnit",
    "systemTags",
    "tags",
    "metricSamplesBufferSize",
    "cardinalityLimit",
    "http2PriorKnowledge",
    "tlsSessionResumption",
    "noCookiesReset",
    "discardResponseBodies",
];

impl Options {
    /// The built-in tier: what is visible to scripts without being set. Other defaults are in [`Settings`].
    #[must_use]
    pub fn defaults() -> Self {
        Self {
            summary_trend_stats: Some(["avg", "min", "med", "max", "p(90)", "p(95)"].map(str::to_owned).to_vec()),
            system_tags: Some(SystemTags::default()),
            ..Self::default()
        }
    }

    /// All options in k6's JSON shape.
    #[must_use]
    pub fn to_json(&self) -> Value {
        // Every field is a plain value with text keys, which JSON can always hold.
        serde_json::to_value(self).unwrap_or(Value::Null)
    }

    /// As [`Options::to_json`] without what scripts cannot set: the options of an archive.
    #[must_use]
    pub fn to_script_json(&self) -> Value {
        let mut value = self.to_json();
        if let Value::Object(fields) = &mut value {
            for row in OPTIONS.iter().filter(|row| !row.in_scripts) {
                fields.shift_remove(row.key);
            }
        }
        value
    }

    /// What `exec.test.options` shows: consolidated, without the shortcuts.
    #[must_use]
    pub fn to_test_json(&self) -> Value {
        let mut value = self.to_json();
        if let Value::Object(fields) = &mut value {
            for shortcut in ["vus", "duration", "iterations", "stages"] {
                fields.shift_remove(shortcut);
            }
        }
        value
    }

    /// What the script's own `options` object shows in VUs: what was set anywhere, as it was written. Call it on the merged
    /// options, which still have the shortcuts.
    #[must_use]
    pub fn to_export_json(&self) -> Value {
        let mut value = self.to_json();
        if let Value::Object(fields) = &mut value {
            if self.dns == DnsConfig::default() {
                fields.shift_remove("dns");
            }
            fields.retain(|_, value| !value.is_null());
        }
        value
    }

    /// Lays `over` on top: what it sets replaces what was there, whole maps and lists included.
    pub(crate) fn apply(&mut self, over: Self) {
        macro_rules! replace {
            ($($field:ident)*) => { $( if over.$field.is_some() { self.$field = over.$field; } )* };
        }
        replace! {
            paused vus duration iterations stages scenarios execution_segment execution_segment_sequence no_setup
            setup_timeout no_teardown teardown_timeout handle_summary_timeout rps max_redirects user_agent batch
            batch_per_host http_debug insecure_skip_tls_verify tls_cipher_suites tls_version tls_auth throw thresholds
            blacklist_ips block_hostnames hosts no_connection_reuse no_vu_connection_reuse min_iteration_duration cloud
            ext summary_trend_stats summary_time_unit system_tags metric_samples_buffer_size no_cookies_reset
            discard_response_bodies console_output local_ips cardinality_limit http2_prior_knowledge
            tls_session_resumption
        }
        // k6: no tags are as none given.
        if let Some(tags) = over.tags.filter(|tags| !tags.is_empty()) {
            self.tags = Some(tags);
        }
        self.dns.apply(over.dns);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_table_has_every_key() {
        let of_table: BTreeSet<&str> = OPTIONS.iter().filter(|row| row.in_scripts).map(|row| row.key).collect();
        assert_eq!(of_table, OPTION_KEYS.iter().copied().collect());
        assert_eq!(of_table.len(), OPTION_KEYS.len());
        for row in OPTIONS {
            assert!(!row.about.ends_with('.') && row.about.len() > 10, "{}", row.key);
        }
    }
}
