//! The table of all options: one row each.
//!
//! A row names the field, its type, how flags and variables write it ([`super::form`]), its key, and what help and the
//! reference page say. From the rows come [`Options`] with its JSON, [`from_flags`], [`from_env`], the laying of places
//! over each other, and [`OPTIONS`]; command-line flags, completions and the reference page are made from that. A new
//! option is a row here, and the code that uses its field.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    dns::DnsConfig,
    form::{
        Anything, Certificates, Cidrs, Debug, Dns, Extensions, Form, Hosts, Int, Ips, Names, Part, Parts, Path,
        Patterns, Scenarios, Stages, Suites, Switch, TagNames, Tags, Text, Thresholds, Time, TimeUnit, Versions,
    },
    hosts::HostTarget,
    info::{Area, OptionInfo},
    ips::{Cidr, IpPool},
    scenario_config::ScenarioConfig,
    tags::SystemTags,
    threshold::ThresholdConfig,
    tls::{TlsAuth, TlsVersions},
};
use crate::{
    duration::GoDuration,
    error::OptionsError,
    executor::StageConfig,
    json::int,
    segment::{Segment, SegmentSequence},
};

macro_rules! options {
    ($(
        $(#[$attribute:meta])*
        $field:ident: $type:ty, $form:ty = ($key:literal, $area:ident, $about:literal) $(.$column:ident($($value:tt)*))*;
    )*) => {
        /// The options one tier sets, or all tiers together. `None` is "not set here".
        ///
        /// Its JSON form is k6's: the same keys in the same order, `null` for what is not set.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct Options {
            $(
                #[doc = concat!($about, ".")]
                #[serde(rename = $key)]
                $(#[$attribute])*
                pub $field: $type,
            )*
        }

        /// All options, in the order of k6's JSON.
        pub const OPTIONS: &[OptionInfo] = &[
            $(OptionInfo::new($key, <$form as Form>::KIND, Area::$area, $about) $(.$column($($value)*))*,)*
        ];

        /// The rows of [`OPTIONS`] by field.
        #[expect(non_camel_case_types, reason = "named like the fields")]
        #[derive(Clone, Copy)]
        enum Row {
            $($field,)*
        }

        /// Reads the command-line tier. `values` gives all values of a flag in their order, by its long name without
        /// dashes (`vus`, `summary-trend-stats`); none when the flag was not given. A switch without a value is `true`,
        /// `http-debug` without one is `headers`.
        ///
        /// Durations need a unit, as in Go.
        ///
        /// # Errors
        /// [`OptionsError`] with the flag as its path.
        pub fn from_flags(values: &dyn Fn(&str) -> Vec<String>) -> Result<Options, OptionsError> {
            Ok(Options { $($field: flag::<$form>(Row::$field, values)?,)* })
        }

        /// Reads the environment tier. A variable that is unset does not count; an empty one is unset where it means a
        /// number, a switch or a duration, and an empty list or map otherwise.
        ///
        /// Durations use the extended grammar: a bare number is milliseconds.
        ///
        /// # Errors
        /// [`OptionsError`] with the variable's name as its path.
        pub fn from_env(get: &dyn Fn(&str) -> Option<String>) -> Result<Options, OptionsError> {
            Ok(Options { $($field: variable::<$form>(Row::$field, get)?,)* })
        }

        impl Options {
            /// What each row says for an option that nobody sets.
            pub(super) fn unset() -> Self {
                Self { $($field: default::<$form>(Row::$field),)* }
            }

            /// Lays `over` on top: what it sets replaces what was there.
            pub(crate) fn apply(&mut self, over: Self) {
                $(<$form as Form>::lay(&mut self.$field, over.$field);)*
            }
        }
    };
}

options! {
    paused: Option<bool>, Switch = ("paused", Load, "Make all VUs, then wait for onrush resume")
        .flag("paused", "").short('p').env("K6_PAUSED").default("false");

    #[serde(deserialize_with = "int")]
    vus: Option<i64>, Int = ("vus", Load, "Number of virtual users (VUs)")
        .flag("vus", "N").short('u').env("K6_VUS").default("1");

    duration: Option<GoDuration>, Time = ("duration", Load, "How long VUs iterate, such as 30s, 5m, 1h30m")
        .flag("duration", "DURATION").short('d').env("K6_DURATION");

    #[serde(deserialize_with = "int")]
    iterations: Option<i64>, Int = ("iterations", Load, "How many iterations all VUs share")
        .flag("iterations", "N").short('i').env("K6_ITERATIONS");

    stages: Option<Vec<StageConfig>>, Stages = ("stages", Load, "Ramp to TARGET VUs over DURATION; repeat it for more stages")
        .flag("stage", "DURATION:TARGET").short('s').env("K6_STAGES");

    #[serde(skip_deserializing)]
    scenarios: Option<BTreeMap<String, ScenarioConfig>>, Scenarios =
        ("scenarios", Load, "What runs: scenarios by name, each with an executor; see below");

    execution_segment: Option<Segment>, Part =
        ("executionSegment", Load, "Run this part of the test only, such as 0:1/4")
        .flag("execution-segment", "FROM:TO").default("0:1");

    execution_segment_sequence: Option<SegmentSequence>, Parts =
        ("executionSegmentSequence", Load, "Where the segments of all instances meet, such as 0,1/4,1/2,1")
        .flag("execution-segment-sequence", "A,B,…");

    no_setup: Option<bool>, Switch = ("noSetup", Script, "Do not run setup()")
        .flag("no-setup", "").env("K6_NO_SETUP").default("false");

    setup_timeout: Option<GoDuration>, Time = ("setupTimeout", Script, "How long setup() may take")
        .env("K6_SETUP_TIMEOUT").default("60s");

    no_teardown: Option<bool>, Switch = ("noTeardown", Script, "Do not run teardown()")
        .flag("no-teardown", "").env("K6_NO_TEARDOWN").default("false");

    teardown_timeout: Option<GoDuration>, Time = ("teardownTimeout", Script, "How long teardown() may take")
        .env("K6_TEARDOWN_TIMEOUT").default("60s");

    #[serde(skip_serializing_if = "Option::is_none")]
    handle_summary_timeout: Option<GoDuration>, Time =
        ("handleSummaryTimeout", Script, "How long handleSummary() may take")
        .env("K6_HANDLE_SUMMARY_TIMEOUT").default("2m0s");

    #[serde(deserialize_with = "int")]
    rps: Option<i64>, Int = ("rps", Load, "Maximum HTTP requests per second over all VUs; 0 for no limit")
        .flag("rps", "N").env("K6_RPS").default("0");

    dns: DnsConfig, Dns = ("dns", Http, "Name resolution: how long answers are kept, which address is used")
        .flag("dns", "KEY=VALUE,…").env("K6_DNS").default("ttl=5m,select=random,policy=preferIPv4");

    #[serde(deserialize_with = "int")]
    max_redirects: Option<i64>, Int = ("maxRedirects", Http, "Redirects to follow")
        .flag("max-redirects", "N").env("K6_MAX_REDIRECTS").default("10");

    user_agent: Option<String>, Text = ("userAgent", Http, "The User-Agent header")
        .flag("user-agent", "TEXT").env("K6_USER_AGENT");

    #[serde(deserialize_with = "int")]
    batch: Option<i64>, Int = ("batch", Http, "Parallel requests of one http.batch()")
        .flag("batch", "N").env("K6_BATCH").default("20");

    #[serde(deserialize_with = "int")]
    batch_per_host: Option<i64>, Int = ("batchPerHost", Http, "Maximum parallel requests of a batch to one host")
        .flag("batch-per-host", "N").env("K6_BATCH_PER_HOST").default("6");

    http_debug: Option<String>, Debug = ("httpDebug", Http, "Log requests and responses")
        .flag("http-debug", "full").env("K6_HTTP_DEBUG");

    insecure_skip_tls_verify: Option<bool>, Switch = ("insecureSkipTLSVerify", Http, "Accept any TLS certificate")
        .flag("insecure-skip-tls-verify", "").env("K6_INSECURE_SKIP_TLS_VERIFY").default("false");

    #[serde(deserialize_with = "super::tls::cipher_suites")]
    tls_cipher_suites: Option<Vec<String>>, Suites =
        ("tlsCipherSuites", Http, "The cipher suites, by their names in Go")
        .env("K6_TLS_CIPHER_SUITES");

    tls_version: Option<TlsVersions>, Versions =
        ("tlsVersion", Http, "tls1.2 or tls1.3, or an object with min and max; tls1.0 and tls1.1 alone are refused (exit code 104)")
        .allowed(&["tls1.0", "tls1.1", "tls1.2", "tls1.3"]);

    tls_auth: Option<Vec<TlsAuth>>, Certificates =
        ("tlsAuth", Http, "Client certificates: objects with cert, key and domains").env("K6_TLSAUTH");

    throw: Option<bool>, Switch = ("throw", Script, "Throw an exception when a request fails")
        .flag("throw", "").short('w').env("K6_THROW").default("false");

    #[serde(deserialize_with = "super::threshold::by_metric")]
    thresholds: Option<BTreeMap<String, Vec<ThresholdConfig>>>, Thresholds =
        ("thresholds", Results, "What decides whether the test passed: expressions by metric").env("K6_THRESHOLDS");

    blacklist_ips: Option<Vec<Cidr>>, Cidrs = ("blacklistIPs", Http, "Refuse to connect to these addresses")
        .flag("blacklist-ip", "CIDR").env("K6_BLACKLIST_IPS");

    #[serde(deserialize_with = "super::hosts::patterns")]
    block_hostnames: Option<Vec<String>>, Patterns =
        ("blockHostnames", Http, "Refuse to connect to these hosts; patterns may begin with *")
        .flag("block-hostnames", "PATTERN").env("K6_BLOCK_HOSTNAMES");

    #[serde(deserialize_with = "super::hosts::targets")]
    hosts: Option<BTreeMap<String, HostTarget>>, Hosts =
        ("hosts", Http, "Addresses for host names, used before DNS; names may begin with *").env("K6_HOSTS");

    no_connection_reuse: Option<bool>, Switch =
        ("noConnectionReuse", Http, "Open a new connection for every request")
        .flag("no-connection-reuse", "").env("K6_NO_CONNECTION_REUSE").default("false");

    no_vu_connection_reuse: Option<bool>, Switch =
        ("noVUConnectionReuse", Http, "Open new connections in every iteration")
        .flag("no-vu-connection-reuse", "").env("K6_NO_VU_CONNECTION_REUSE").default("false");

    #[serde(skip_serializing_if = "Option::is_none")]
    http2_prior_knowledge: Option<bool>, Switch = ("http2PriorKnowledge", Http,
        "Speak HTTP/2 with http:// servers, which must expect it (with https:// servers it is negotiated)")
        .flag("http2-prior-knowledge", "").env("ONRUSH_HTTP2_PRIOR_KNOWLEDGE").default("false");

    #[serde(skip_serializing_if = "Option::is_none")]
    tls_session_resumption: Option<bool>, Switch =
        ("tlsSessionResumption", Http, "Let new connections of a VU resume its TLS sessions, as browsers do")
        .flag("tls-session-resumption", "").env("ONRUSH_TLS_SESSION_RESUMPTION").default("false");

    min_iteration_duration: Option<GoDuration>, Time =
        ("minIterationDuration", Load, "Shortest time from one iteration's start to the next")
        .flag("min-iteration-duration", "DURATION").env("K6_MIN_ITERATION_DURATION").default("0s");

    #[serde(skip_serializing_if = "Option::is_none")]
    cloud: Option<Value>, Anything = ("cloud", Script, "Settings of Grafana Cloud: kept, not used");

    ext: Option<BTreeMap<String, Value>>, Extensions =
        ("ext", Script, "Settings of extensions: kept, not used");

    summary_trend_stats: Option<Vec<String>>, Names =
        ("summaryTrendStats", Results, "Columns of trends in the summary; count and p(N) are also possible")
        .flag("summary-trend-stats", "A,B,…").env("K6_SUMMARY_TREND_STATS").default("avg,min,med,max,p(90),p(95)");

    summary_time_unit: Option<String>, TimeUnit =
        ("summaryTimeUnit", Results, "Unit of times in the summary; chosen for each value if not set")
        .flag("summary-time-unit", "UNIT").env("K6_SUMMARY_TIME_UNIT").allowed(&["s", "ms", "us"]);

    system_tags: Option<SystemTags>, TagNames = ("systemTags", Results, "The tags added to samples automatically")
        .flag("system-tags", "A,B,…").env("K6_SYSTEM_TAGS");

    #[serde(deserialize_with = "crate::json::texts")]
    tags: Option<BTreeMap<String, String>>, Tags = ("tags", Results, "Tag every sample of the run")
        .flag("tag", "NAME=VALUE").env("K6_TAGS");

    #[serde(deserialize_with = "int")]
    metric_samples_buffer_size: Option<i64>, Int =
        ("metricSamplesBufferSize", Results, "Samples k6 keeps between VUs and outputs: kept, not used")
        .env("K6_METRIC_SAMPLES_BUFFER_SIZE").default("1000");

    #[serde(deserialize_with = "int", skip_serializing_if = "Option::is_none")]
    cardinality_limit: Option<i64>, Int = ("cardinalityLimit", Results,
        "Maximum number of time series; beyond it, values of the tag with the most values are merged")
        .flag("cardinality-limit", "N").env("ONRUSH_CARDINALITY_LIMIT").default("100000");

    no_cookies_reset: Option<bool>, Switch =
        ("noCookiesReset", Http, "Keep a VU's cookies from one iteration to the next")
        .env("K6_NO_COOKIES_RESET").default("false");

    discard_response_bodies: Option<bool>, Switch = ("discardResponseBodies", Http, "Do not keep response bodies")
        .flag("discard-response-bodies", "").env("K6_DISCARD_RESPONSE_BODIES").default("false");

    #[serde(skip_deserializing)]
    console_output: Option<String>, Path = ("consoleOutput", Results, "Write what the script logs with console.* to FILE")
        .flag("console-output", "FILE").env("K6_CONSOLE_OUTPUT").not_in_scripts();

    #[serde(skip_deserializing)]
    local_ips: Option<IpPool>, Ips = ("localIPs", Http, "Addresses VUs connect from")
        .flag("local-ips", "IPS").env("K6_LOCAL_IPS").not_in_scripts();
}

/// An option's field from its flag.
fn flag<F: Form>(row: Row, values: &dyn Fn(&str) -> Vec<String>) -> Result<F::Field, OptionsError> {
    let Some(flag) = OPTIONS[row as usize].flag else { return Ok(F::Field::default()) };
    let given = values(flag.long);
    if given.is_empty() {
        return Ok(F::Field::default());
    }
    F::flag(given).map_err(|error| OptionsError::new(format!("--{}", flag.long), error))
}

/// An option's field from its variable.
fn variable<F: Form>(row: Row, get: &dyn Fn(&str) -> Option<String>) -> Result<F::Field, OptionsError> {
    let Some(name) = OPTIONS[row as usize].variable else { return Ok(F::Field::default()) };
    match get(name) {
        Some(text) => F::env(&text).map_err(|error| OptionsError::new(name, error)),
        None => Ok(F::Field::default()),
    }
}

/// What a row says where nothing is set. A test reads them all, so none is wrong here.
fn default<F: Form>(row: Row) -> F::Field {
    match OPTIONS[row as usize].default {
        "" => F::Field::default(),
        text => F::env(text).unwrap_or_default(),
    }
}

impl Options {
    /// The built-in tier: what is visible to scripts without being set. [`super::Settings`] take the other defaults from
    /// the rows.
    #[must_use]
    pub fn defaults() -> Self {
        Self {
            summary_trend_stats: Self::unset().summary_trend_stats,
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
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn rows() {
        let json = Options { cloud: Some(Value::Bool(true)), ..Options::defaults() }.to_json();
        let written: Vec<&String> = json.as_object().unwrap().keys().collect();
        let (keys, unwritten): (Vec<&str>, Vec<&str>) =
            OPTIONS.iter().map(|row| row.key).partition(|key| json.get(key).is_some());
        assert_eq!(written, keys);
        assert_eq!(
            unwritten,
            ["handleSummaryTimeout", "http2PriorKnowledge", "tlsSessionResumption", "cardinalityLimit"]
        );
        let unique: BTreeSet<&str> = OPTIONS.iter().map(|row| row.key).collect();
        assert_eq!(unique.len(), OPTIONS.len());
        for row in OPTIONS {
            assert!(!row.about.ends_with('.') && row.about.len() > 10, "{}", row.key);
        }
    }
}
