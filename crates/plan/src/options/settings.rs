//! Options as plain values, with the defaults filled in: what the engine reads.

use std::{collections::BTreeMap, time::Duration};

use super::{dns::DnsConfig, table::Options, tags::SystemTags};
use crate::duration::GoDuration;

/// The values a run uses. Numbers that make no sense below zero are at least 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Initialise the VUs, then wait to be resumed.
    pub paused: bool,
    /// Run `setup()` if there is one.
    pub setup: bool,
    /// Run `teardown()` if there is one.
    pub teardown: bool,
    /// How long `setup()` may take.
    pub setup_timeout: Duration,
    /// How long `teardown()` may take.
    pub teardown_timeout: Duration,
    /// How long `handleSummary()` may take.
    pub handle_summary_timeout: Duration,
    /// Most HTTP requests a second on this instance.
    pub rps: Option<u64>,
    /// Name resolution.
    pub dns: DnsConfig,
    /// How many redirects are followed.
    pub max_redirects: u64,
    /// The `User-Agent` header; `None` is the program's own.
    pub user_agent: Option<String>,
    /// Parallel requests of one `http.batch()`; at least 1.
    pub batch: u64,
    /// Parallel requests of one `http.batch()` to one host; at least 1.
    pub batch_per_host: u64,
    /// HTTP errors become exceptions.
    pub throw: bool,
    /// Shortest time from the start of an iteration to the next.
    pub min_iteration_duration: Duration,
    /// Columns of trends in the summary.
    pub summary_trend_stats: Vec<String>,
    /// Unit of times in the summary; empty adapts.
    pub summary_time_unit: String,
    /// Which system tags samples get.
    pub system_tags: SystemTags,
    /// Tags for all samples.
    pub tags: BTreeMap<String, String>,
    /// Capacity between VUs and outputs; at least 1.
    pub metric_samples_buffer_size: u64,
    /// Time series of the run from which on tag values are folded; at least 1.
    pub cardinality_limit: u64,
    /// Cookies outlive iterations.
    pub no_cookies_reset: bool,
    /// Bodies are not kept unless a request asks for them.
    pub discard_response_bodies: bool,
    /// A new connection for every request.
    pub no_connection_reuse: bool,
    /// No connection outlives an iteration.
    pub no_vu_connection_reuse: bool,
    /// HTTP/2 with `http://` servers, without asking them.
    pub http2_prior_knowledge: bool,
    /// A VU's connections resume its TLS sessions.
    pub tls_session_resumption: bool,
    /// Accept any certificate.
    pub insecure_skip_tls_verify: bool,
}

impl Options {
    /// The values with the defaults filled in.
    #[must_use]
    pub fn settings(&self) -> Settings {
        let unset = Self::unset();
        let on = |switch: Option<bool>| switch.unwrap_or(false);
        let time = |value: Option<GoDuration>, unset: Option<GoDuration>| value.or(unset).unwrap_or_default().as_std();
        let number = |value: Option<i64>, unset: Option<i64>, least: u64| {
            u64::try_from(value.or(unset).unwrap_or(0)).unwrap_or(0).max(least)
        };
        Settings {
            paused: on(self.paused),
            setup: !on(self.no_setup),
            teardown: !on(self.no_teardown),
            setup_timeout: time(self.setup_timeout, unset.setup_timeout),
            teardown_timeout: time(self.teardown_timeout, unset.teardown_timeout),
            handle_summary_timeout: time(self.handle_summary_timeout, unset.handle_summary_timeout),
            rps: self.rps.and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0),
            dns: self.dns.clone(),
            max_redirects: number(self.max_redirects, unset.max_redirects, 0),
            user_agent: self.user_agent.clone(),
            batch: number(self.batch, unset.batch, 1),
            batch_per_host: number(self.batch_per_host, unset.batch_per_host, 1),
            throw: on(self.throw),
            min_iteration_duration: time(self.min_iteration_duration, unset.min_iteration_duration),
            summary_trend_stats: self.summary_trend_stats.clone().or(unset.summary_trend_stats).unwrap_or_default(),
            summary_time_unit: self.summary_time_unit.clone().unwrap_or_default(),
            system_tags: self.system_tags.clone().unwrap_or_default(),
            tags: self.tags.clone().unwrap_or_default(),
            metric_samples_buffer_size: number(self.metric_samples_buffer_size, unset.metric_samples_buffer_size, 1),
            cardinality_limit: number(self.cardinality_limit, unset.cardinality_limit, 1),
            no_cookies_reset: on(self.no_cookies_reset),
            discard_response_bodies: on(self.discard_response_bodies),
            no_connection_reuse: on(self.no_connection_reuse),
            no_vu_connection_reuse: on(self.no_vu_connection_reuse),
            http2_prior_knowledge: on(self.http2_prior_knowledge),
            tls_session_resumption: on(self.tls_session_resumption),
            insecure_skip_tls_verify: on(self.insecure_skip_tls_verify),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::OPTIONS;

    #[test]
    fn what_nobody_sets_is_what_the_rows_say() {
        let settings = Options::default().settings();
        let seconds = Duration::from_secs;
        assert_eq!((settings.setup_timeout, settings.teardown_timeout), (seconds(60), seconds(60)));
        assert_eq!((settings.handle_summary_timeout, settings.min_iteration_duration), (seconds(120), seconds(0)));
        assert_eq!((settings.max_redirects, settings.batch, settings.batch_per_host), (10, 20, 6));
        assert_eq!((settings.metric_samples_buffer_size, settings.cardinality_limit), (1_000, 100_000));
        assert_eq!(settings.summary_trend_stats, ["avg", "min", "med", "max", "p(90)", "p(95)"]);
        assert!(settings.setup && settings.teardown && !settings.paused && !settings.throw);
    }

    #[test]
    fn every_row_has_a_default_that_can_be_read() {
        let unset = Options::unset().to_json();
        for row in OPTIONS.iter().filter(|row| !row.default.is_empty()) {
            let value = &unset[row.key];
            assert!(!value.is_null(), "{}: {}", row.key, row.default);
            // Switches and numbers stand in the row as in JSON.
            if value.is_boolean() || value.is_number() {
                assert_eq!(value.to_string(), row.default, "{}", row.key);
            }
        }
    }
}
