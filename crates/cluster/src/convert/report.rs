//! Reports as messages.

use std::time::Duration;

use bytes::Bytes;
use onrush_metrics::{Contains, MetricKind, OwnDelay, Span};
use onrush_session::protocol::{
    Accepted, Failure, FailureKind, Flushed, Health, HealthReport, LogLine, MetricName, Progress, Report,
    ScenarioProgress, SecretWanted, SummaryFile, ThreadDelta, ThreadSamples, Time,
};
use prost::Message as _;

use super::{
    WireError,
    command::{encode_data, json},
    folded::{fold, unfold},
};
use crate::messages::{self as wire, report::What};

/// Encodes a report.
pub(crate) fn encode_report(report: &Report) -> Bytes {
    to_wire(report).encode_to_vec().into()
}

fn to_wire(report: &Report) -> wire::Report {
    let what = match report {
        Report::Accepted(accepted) => What::Accepted(encode_accepted(accepted)),
        Report::Ready => What::Ready(wire::Unit {}),
        Report::SetupDone(result) => What::SetupDone(match result {
            Ok(json) => wire::SetupDone { data: Some(encode_data(json)), failure: None },
            Err(failure) => wire::SetupDone { data: None, failure: Some(encode_failure(failure)) },
        }),
        Report::Started { at } => What::Started(wire::Started { at: at.0 }),
        Report::Begun { late, clock_error } => {
            What::Begun(wire::Begun { late_ns: nanos(*late), clock_error_ns: nanos(*clock_error) })
        }
        Report::Delta(part) => What::Delta(wire::ThreadDelta {
            thread: part.thread,
            span: part.span.map(|span| wire::Span { from_ns: span.from_ns, until_ns: span.until_ns }),
            delta: Some(fold(&part.delta)),
            ended: part.ended.clone(),
        }),
        Report::Samples(part) => {
            What::Samples(wire::ThreadSamples { thread: part.thread, batch: Some(fold(&part.batch)) })
        }
        Report::SecretWanted(wanted) => {
            What::SecretWanted(wire::SecretWanted { source: wanted.source.clone(), key: wanted.key.clone() })
        }
        Report::Health(health) => What::Health(encode_health(health)),
        Report::Warning { message, fields } => {
            What::Warning(wire::Warning { message: message.clone(), fields: encode_fields(fields) })
        }
        Report::Log(line) => What::Log(wire::LogLine {
            level: line.level.clone(),
            message: line.message.clone(),
            fields: encode_fields(&line.fields),
        }),
        Report::Progress(progress) => What::Progress(encode_progress(progress)),
        Report::Aborted { message } => What::Aborted(wire::Text { text: message.clone() }),
        Report::MarkedFailed => What::MarkedFailed(wire::Unit {}),
        Report::ScenariosDone => What::ScenariosDone(wire::Unit {}),
        Report::TeardownDone(result) => {
            What::TeardownDone(wire::TeardownDone { failure: result.as_ref().err().map(encode_failure) })
        }
        Report::Flushed(flushed) => What::Flushed(wire::Flushed {
            threads_missing: flushed.threads_missing,
            output_samples_missing: flushed.output_samples_missing,
        }),
        Report::SummaryDone(result) => What::SummaryDone(match result {
            Ok(files) => wire::SummaryDone { files: files.as_deref().map(encode_files), failure: None },
            Err(failure) => wire::SummaryDone { files: None, failure: Some(encode_failure(failure)) },
        }),
        Report::Failed(failure) => What::Failed(encode_failure(failure)),
        Report::OfShare { share, report } => {
            What::OfShare(Box::new(wire::ReportOfShare { share: *share, report: Some(Box::new(to_wire(report))) }))
        }
    };
    wire::Report { what: Some(what) }
}

/// Decodes a report.
pub(crate) fn report(bytes: Bytes) -> Result<Report, WireError> {
    from_wire(wire::Report::decode(bytes)?)
}

fn from_wire(report: wire::Report) -> Result<Report, WireError> {
    let what = report.what.ok_or_else(|| WireError::missing("report"))?;
    Ok(match what {
        What::Accepted(accepted) => Report::Accepted(Box::new(self::accepted(accepted)?)),
        What::Ready(_) => Report::Ready,
        What::SetupDone(done) => Report::SetupDone(match done.failure {
            Some(failure) => Err(self::failure(failure)?),
            None => Ok(json(done.data)),
        }),
        What::Started(started) => Report::Started { at: Time(started.at) },
        What::Begun(begun) => Report::Begun {
            late: Duration::from_nanos(begun.late_ns),
            clock_error: Duration::from_nanos(begun.clock_error_ns),
        },
        What::Delta(part) => Report::Delta(Box::new(ThreadDelta {
            thread: part.thread,
            span: part.span.map(|span| Span { from_ns: span.from_ns, until_ns: span.until_ns }),
            delta: unfold(&part.delta.ok_or_else(|| WireError::missing("delta"))?)?,
            ended: part.ended,
        })),
        What::Samples(part) => Report::Samples(Box::new(ThreadSamples {
            thread: part.thread,
            batch: unfold(&part.batch.ok_or_else(|| WireError::missing("batch"))?)?,
        })),
        What::SecretWanted(wanted) => Report::SecretWanted(SecretWanted { source: wanted.source, key: wanted.key }),
        What::Health(health) => Report::Health(Box::new(self::health(health)?)),
        What::Warning(warning) => Report::Warning { message: warning.message, fields: fields(warning.fields) },
        What::Log(line) => {
            Report::Log(LogLine { level: line.level, message: line.message, fields: fields(line.fields) })
        }
        What::Progress(progress) => Report::Progress(Box::new(self::progress(progress))),
        What::Aborted(text) => Report::Aborted { message: text.text },
        What::MarkedFailed(_) => Report::MarkedFailed,
        What::ScenariosDone(_) => Report::ScenariosDone,
        What::TeardownDone(done) => Report::TeardownDone(match done.failure {
            Some(failure) => Err(self::failure(failure)?),
            None => Ok(()),
        }),
        What::Flushed(flushed) => Report::Flushed(Flushed {
            threads_missing: flushed.threads_missing,
            output_samples_missing: flushed.output_samples_missing,
        }),
        What::SummaryDone(done) => Report::SummaryDone(match done.failure {
            Some(failure) => Err(self::failure(failure)?),
            None => Ok(done.files.map(files)),
        }),
        What::Failed(failure) => Report::Failed(self::failure(failure)?),
        What::OfShare(of) => {
            let report = from_wire(*of.report.ok_or_else(|| WireError::missing("report"))?)?;
            if matches!(report, Report::OfShare { .. }) {
                return Err(WireError::new("it is about a share of a share"));
            }
            Report::OfShare { share: of.share, report: Box::new(report) }
        }
    })
}

/// Nanoseconds fit for 584 years.
fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

pub(crate) fn encode_accepted(accepted: &Accepted) -> wire::Accepted {
    let metric = |metric: &MetricName| {
        let kind = match metric.kind {
            MetricKind::Counter => wire::MetricKind::Counter,
            MetricKind::Gauge => wire::MetricKind::Gauge,
            MetricKind::Rate => wire::MetricKind::Rate,
            MetricKind::Trend => wire::MetricKind::Trend,
        };
        let contains = match metric.contains {
            Contains::Default => wire::Contains::Default,
            Contains::Time => wire::Contains::Time,
            Contains::Data => wire::Contains::Data,
        };
        wire::MetricName { name: metric.name.clone(), kind: kind.into(), contains: contains.into() }
    };
    wire::Accepted {
        version: accepted.version,
        metrics: accepted.metrics.iter().map(metric).collect(),
        scenarios: accepted.scenarios.clone(),
        threads: accepted.threads,
    }
}

pub(crate) fn accepted(accepted: wire::Accepted) -> Result<Accepted, WireError> {
    let metric = |metric: wire::MetricName| {
        let kind = wire::MetricKind::try_from(metric.kind).map_err(|_| WireError::missing("known kind of metric"))?;
        let contains = wire::Contains::try_from(metric.contains).map_err(|_| WireError::missing("known unit"))?;
        Ok(MetricName {
            name: metric.name,
            kind: match kind {
                wire::MetricKind::Counter => MetricKind::Counter,
                wire::MetricKind::Gauge => MetricKind::Gauge,
                wire::MetricKind::Rate => MetricKind::Rate,
                wire::MetricKind::Trend => MetricKind::Trend,
            },
            contains: match contains {
                wire::Contains::Default => Contains::Default,
                wire::Contains::Time => Contains::Time,
                wire::Contains::Data => Contains::Data,
            },
        })
    };
    Ok(Accepted {
        version: accepted.version,
        metrics: accepted.metrics.into_iter().map(metric).collect::<Result<_, WireError>>()?,
        scenarios: accepted.scenarios,
        threads: accepted.threads,
    })
}

fn encode_failure(failure: &Failure) -> wire::Failure {
    let kind = match failure.kind {
        FailureKind::Script => wire::FailureKind::Script,
        FailureKind::Aborted => wire::FailureKind::Aborted,
        FailureKind::Timeout => wire::FailureKind::Timeout,
        FailureKind::Engine => wire::FailureKind::Engine,
        FailureKind::Bug => wire::FailureKind::Bug,
    };
    wire::Failure { kind: kind.into(), message: failure.message.clone(), vu: failure.vu }
}

fn failure(failure: wire::Failure) -> Result<Failure, WireError> {
    let kind = wire::FailureKind::try_from(failure.kind).map_err(|_| WireError::missing("known kind of failure"))?;
    let kind = match kind {
        wire::FailureKind::Script => FailureKind::Script,
        wire::FailureKind::Aborted => FailureKind::Aborted,
        wire::FailureKind::Timeout => FailureKind::Timeout,
        wire::FailureKind::Engine => FailureKind::Engine,
        wire::FailureKind::Bug => FailureKind::Bug,
    };
    Ok(Failure { kind, message: failure.message, vu: failure.vu })
}

/// A second as the other of its two types: both have the same fields.
macro_rules! same_second {
    ($to:path, $health:expr) => {{
        let health = $health;
        $to {
            process_cores: health.process_cores,
            busiest_thread_cores: health.busiest_thread_cores,
            available_cores: health.available_cores,
            steal_cores: health.steal_cores,
            throttled: health.throttled,
            timer_lag_max_ms: health.timer_lag_max_ms,
            timer_lag_mean_ms: health.timer_lag_mean_ms,
            memory_used: health.memory_used,
            fds_used: health.fds_used,
            waiting: health.waiting,
            fd_errors: health.fd_errors,
            port_errors: health.port_errors,
            stops: health.stops,
            at_secs: health.at_secs,
            machine_cores: health.machine_cores,
            rss_bytes: health.rss_bytes,
            fds: health.fds,
            swapped_in: health.swapped_in,
            segments: health.segments,
            retransmitted: health.retransmitted,
            packets_dropped: health.packets_dropped,
            received_bytes: health.received_bytes,
            sent_bytes: health.sent_bytes,
            interface_used: health.interface_used,
            tracked_used: health.tracked_used,
        }
    }};
}

fn encode_health(report: &HealthReport) -> wire::HealthReport {
    let computing =
        |(scenario, slices): &(String, u64)| wire::Computing { scenario: scenario.clone(), slices: *slices };
    let own_delay = |(scenario, delay): (&String, &OwnDelay)| wire::OwnDelayOf {
        scenario: scenario.clone(),
        delay: Some(fold(delay)),
    };
    wire::HealthReport {
        second: report.second.as_ref().map(|health| Box::new(same_second!(wire::Health, health))),
        start_lag: Some(fold(&report.start_lag)),
        panics: report.panics,
        trapped_writes: report.trapped_writes,
        trapped_property: report.trapped_property.clone(),
        threads_given_up: report.threads_given_up,
        computing: report.computing.as_ref().map(computing),
        own_delays: report.own_delays.iter().map(own_delay).collect(),
    }
}

fn health(report: wire::HealthReport) -> Result<HealthReport, WireError> {
    let own_delay = |own: wire::OwnDelayOf| {
        let delay = unfold(&own.delay.ok_or_else(|| WireError::missing("own delay"))?)?;
        Ok((own.scenario, delay))
    };
    Ok(HealthReport {
        second: report.second.map(|health| same_second!(Health, health)),
        start_lag: unfold(&report.start_lag.ok_or_else(|| WireError::missing("start lag"))?)?,
        panics: report.panics,
        trapped_writes: report.trapped_writes,
        trapped_property: report.trapped_property,
        threads_given_up: report.threads_given_up,
        computing: report.computing.map(|computing| (computing.scenario, computing.slices)),
        own_delays: report.own_delays.into_iter().map(own_delay).collect::<Result<_, WireError>>()?,
    })
}

fn encode_fields(fields: &[(String, String)]) -> Vec<wire::Field> {
    fields.iter().map(|(name, value)| wire::Field { name: name.clone(), value: value.clone() }).collect()
}

fn fields(fields: Vec<wire::Field>) -> Vec<(String, String)> {
    fields.into_iter().map(|field| (field.name, field.value)).collect()
}

fn encode_progress(progress: &Progress) -> wire::Progress {
    let scenario = |own: &ScenarioProgress| wire::ScenarioProgress {
        started_at: own.started_at.map(|at| at.0),
        ended_at: own.ended_at.map(|at| at.0),
        running_vus: own.running_vus,
        active_vus: own.active_vus,
        active_vus_max: own.active_vus_max,
        done: own.done,
        interrupted: own.interrupted,
        dropped: own.dropped,
        stopping: own.stopping,
        over: own.over,
        steered: own.steered,
        max_vus: own.max_vus,
        thrown: own.thrown,
    };
    wire::Progress {
        scenarios: progress.scenarios.iter().map(scenario).collect(),
        vus_active: progress.vus_active,
        vus_initialized: progress.vus_initialized,
        complete: progress.complete,
        interrupted: progress.interrupted,
    }
}

fn progress(progress: wire::Progress) -> Progress {
    let scenario = |own: wire::ScenarioProgress| ScenarioProgress {
        started_at: own.started_at.map(Time),
        ended_at: own.ended_at.map(Time),
        running_vus: own.running_vus,
        active_vus: own.active_vus,
        active_vus_max: own.active_vus_max,
        done: own.done,
        interrupted: own.interrupted,
        dropped: own.dropped,
        stopping: own.stopping,
        over: own.over,
        steered: own.steered,
        max_vus: own.max_vus,
        thrown: own.thrown,
    };
    Progress {
        scenarios: progress.scenarios.into_iter().map(scenario).collect(),
        vus_active: progress.vus_active,
        vus_initialized: progress.vus_initialized,
        complete: progress.complete,
        interrupted: progress.interrupted,
    }
}

fn encode_files(files: &[SummaryFile]) -> wire::SummaryFiles {
    let file = |file: &SummaryFile| wire::SummaryFile { path: file.path.clone(), content: file.content.clone() };
    wire::SummaryFiles { files: files.iter().map(file).collect() }
}

fn files(files: wire::SummaryFiles) -> Vec<SummaryFile> {
    files.files.into_iter().map(|file| SummaryFile { path: file.path, content: file.content }).collect()
}

#[cfg(test)]
mod tests {
    use onrush_metrics::{CardinalityWarning, Delta, Histogram, MetricId, RawSample, SampleBatch, Sink};

    use super::*;
    use crate::convert::check_variants;

    fn reports() -> Vec<Report> {
        let metric = |kind, contains| MetricName { name: "m".to_owned(), kind, contains };
        let failed = |kind, vu| Failure { kind, message: "why\nwhere".to_owned(), vu };
        let mut trend = Histogram::new();
        (0..300).for_each(|value| trend.record(f64::from(value) / 7.0));
        let mut delta = Delta::default();
        let tags = [("scenario".into(), "a".into()), ("url".into(), "b".into())];
        delta.push(MetricId(3), tags.into(), Sink::Trend(trend.clone()));
        delta.push(MetricId(4), Vec::new().into(), Sink::Rate { hits: 1, total: 2 });
        // Here and below each field is named and is not what it is by default: one that is forgotten does not come back.
        let second = Health {
            process_cores: 0.5,
            busiest_thread_cores: 0.25,
            available_cores: 2.0,
            steal_cores: 0.125,
            throttled: 0.0625,
            timer_lag_max_ms: 3.5,
            timer_lag_mean_ms: 1.5,
            memory_used: 0.75,
            fds_used: 0.375,
            waiting: 0.875,
            fd_errors: 4,
            port_errors: 5,
            stops: 3,
            at_secs: 12.5,
            machine_cores: 1.75,
            rss_bytes: 6,
            fds: 7,
            swapped_in: 8,
            segments: 9,
            retransmitted: 10,
            packets_dropped: 11,
            received_bytes: 12,
            sent_bytes: 13,
            interface_used: 0.4375,
            tracked_used: 0.6875,
        };
        let mut own_delay = OwnDelay::default();
        own_delay.note(0.25, 3.0);
        let scenario = ScenarioProgress {
            started_at: Some(Time(0)),
            ended_at: Some(Time(1)),
            running_vus: 3,
            active_vus: 5,
            active_vus_max: 6,
            done: 7,
            interrupted: 8,
            thrown: 4,
            dropped: 9,
            stopping: true,
            over: true,
            steered: Some(0.0),
            max_vus: Some(0),
        };
        let batch = SampleBatch {
            samples: vec![RawSample { metric: MetricId(1), tags: 2, metadata: 3, time: 4, value: 5.5 }],
            first_tag_set: 6,
            tag_sets: vec![[("a".into(), "b".into())].into(), Vec::new().into()],
            metadata: vec![[("vu".into(), "1".into())].into()],
        };
        let outcome = onrush_metrics::Outcome {
            ending: onrush_metrics::Ending::Error { code: 1, text: "t".into() },
            count: 2,
            first_ns: 3,
            last_ns: 4,
            example: "e".into(),
        };
        let warning = CardinalityWarning { tag: "url".into(), examples: vec!["/1".to_owned()] };
        delta.warnings.push(warning);
        delta.outcomes.push(outcome);
        (delta.values_cut, delta.samples_lost) = (1, 2);
        vec![
            Report::Accepted(Box::new(Accepted {
                version: 1,
                metrics: vec![
                    metric(MetricKind::Counter, Contains::Default),
                    metric(MetricKind::Gauge, Contains::Time),
                    metric(MetricKind::Rate, Contains::Data),
                    metric(MetricKind::Trend, Contains::Time),
                ],
                scenarios: vec!["a".to_owned(), String::new()],
                threads: 2,
            })),
            Report::Ready,
            Report::SetupDone(Ok(None)),
            Report::SetupDone(Ok(Some("{\"a\":1}".into()))),
            Report::SetupDone(Err(failed(FailureKind::Script, Some(0)))),
            Report::Started { at: Time(7) },
            Report::Begun { late: Duration::from_nanos(8), clock_error: Duration::from_micros(9) },
            Report::Delta(Box::new(ThreadDelta { thread: 1, delta: delta.clone(), ..ThreadDelta::default() })),
            Report::Delta(Box::new(ThreadDelta {
                thread: 0,
                span: Some(Span { from_ns: 0, until_ns: 9 }),
                delta: delta.clone(),
                ended: vec![0, 7],
            })),
            Report::OfShare {
                share: 3,
                report: Box::new(Report::Delta(Box::new(ThreadDelta { delta, ..ThreadDelta::default() }))),
            },
            Report::OfShare { share: 0, report: Box::new(Report::Ready) },
            Report::Samples(Box::new(ThreadSamples { thread: 1, batch })),
            Report::SecretWanted(SecretWanted { source: "s".to_owned(), key: "k".to_owned() }),
            Report::Health(Box::new(HealthReport {
                second: Some(second),
                start_lag: trend,
                panics: 1,
                trapped_writes: 2,
                trapped_property: "p".to_owned(),
                threads_given_up: 3,
                computing: Some(("a".to_owned(), 4)),
                own_delays: [("a".to_owned(), own_delay)].into(),
            })),
            Report::Health(Box::default()),
            Report::Warning { message: "w".to_owned(), fields: vec![("a".to_owned(), "b".to_owned())] },
            Report::Log(LogLine {
                level: "info".to_owned(),
                message: "l".to_owned(),
                fields: vec![("c".to_owned(), "d".to_owned())],
            }),
            Report::Progress(Box::new(Progress {
                scenarios: vec![scenario, ScenarioProgress::default()],
                vus_active: 1,
                vus_initialized: 2,
                complete: 5,
                interrupted: 6,
            })),
            Report::Aborted { message: "a".to_owned() },
            Report::MarkedFailed,
            Report::ScenariosDone,
            Report::TeardownDone(Ok(())),
            Report::TeardownDone(Err(failed(FailureKind::Timeout, None))),
            Report::Flushed(Flushed { threads_missing: 1, output_samples_missing: 2 }),
            Report::SummaryDone(Ok(None)),
            Report::SummaryDone(Ok(Some(Vec::new()))),
            Report::SummaryDone(Ok(Some(vec![SummaryFile { path: "stdout".to_owned(), content: vec![0, 255] }]))),
            Report::SummaryDone(Err(failed(FailureKind::Engine, None))),
            Report::Failed(failed(FailureKind::Aborted, None)),
            Report::Failed(failed(FailureKind::Bug, None)),
        ]
    }

    #[test]
    fn what_is_sent_is_what_comes() {
        for sent in reports() {
            assert_eq!(report(encode_report(&sent)), Ok(sent));
        }
    }

    #[test]
    fn every_report_is_among_them() {
        check_variants::<Report>(reports().iter().map(|report| format!("{report:?}")));
    }

    /// Cut anywhere, a message is refused or is another one; nothing else happens.
    #[test]
    fn broken_messages_do_no_harm() {
        for sent in reports() {
            let bytes = encode_report(&sent);
            for end in 0..bytes.len() {
                let _ = report(bytes.slice(..end));
                let mut changed = bytes.to_vec();
                changed[end] ^= 0x55;
                let _ = report(changed.into());
            }
        }
        assert_eq!(report(Bytes::new()), Err(WireError("it has no report".to_owned())));
        let unknown = wire::Failure { kind: 99, message: String::new(), vu: None };
        let bytes = wire::Report { what: Some(What::Failed(unknown)) }.encode_to_vec();
        assert_eq!(report(bytes.into()), Err(WireError("it has no known kind of failure".to_owned())));
        let share = |report| Report::OfShare { share: 0, report: Box::new(report) };
        let nested = encode_report(&share(share(Report::Ready)));
        assert_eq!(report(nested), Err(WireError("it is about a share of a share".to_owned())));
    }
}
