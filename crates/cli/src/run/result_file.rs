//! `--out result=FILE`: everything a run measured, kept so that whatever is told about it can be computed again.

use std::{
    fs::File,
    io::BufWriter,
    path::{Path, PathBuf},
    time::Duration,
};

use onrush_cluster::Hash;
use onrush_fiber::Clock;
use onrush_metrics::{Span, Step, Steps};
use onrush_output::{Feed, Folded, Note, StepOutput, reason};
use onrush_results::{End, Head, MetricRow, WriteError, Writer};
use onrush_session::{
    DeltaSink,
    protocol::{AgentId, ThreadDelta},
};

use super::{
    prepare::{self, Prepared},
    view,
};
use crate::{
    args::RunArgs,
    context::Context,
    failure::Failure,
    log::{Level, rfc3339_nanos},
    version,
};

/// A disk that takes nothing for so long takes nothing any more.
const PATIENCE: Duration = Duration::from_secs(30);

/// A file that is being written.
pub(super) struct ResultFile {
    path: PathBuf,
    folded: Folded<Kept>,
}

/// The writing half, on a thread of its own.
struct Kept(Writer<BufWriter<File>>);

impl StepOutput for Kept {
    type End = End;

    fn step(&mut self, step: Step) -> Result<(), String> {
        self.0.step(step).map_err(|error| why(&error))
    }

    fn note(&mut self, note: Note) -> Result<(), String> {
        self.0.note(note.name, note.json).map_err(|error| why(&error))
    }

    fn end(self, end: End) -> Result<(), String> {
        let file = self.0.end(&end).map_err(|error| why(&error))?;
        file.into_inner().map_err(|error| reason(error.error()))?;
        Ok(())
    }
}

/// What the system says.
fn why(error: &WriteError) -> String {
    match error {
        WriteError::Io(error) => reason(error),
        other => other.to_string(),
    }
}

/// Opens the files of a run.
///
/// # Errors
/// 255 with the first one that cannot be made.
pub(super) fn start(
    cx: &Context,
    paths: &[PathBuf],
    args: &RunArgs,
    prepared: &Prepared,
    agents: u32,
) -> Result<Vec<ResultFile>, Failure> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let head = head(args, prepared, agents);
    paths.iter().map(|path| ResultFile::new(cx, path, &head)).collect()
}

impl ResultFile {
    fn new(cx: &Context, path: &Path, head: &Head) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let failed =
            |error: String| Failure::other(format!("could not create the 'result' output: open {name}: {error}"));
        let file = File::create(path).map_err(|error| failed(reason(&error)))?;
        let writer = Writer::new(BufWriter::new(file), head).map_err(|error| failed(why(&error)))?;
        let (logger, filename) = (cx.logger.clone(), name.clone());
        let tell = move |error: &str| {
            let fields = vec![("error", error.to_owned()), ("filename", filename), ("output", "result".to_owned())];
            logger.log(Level::Error, "an output failed and gets no more samples; the test goes on", fields);
        };
        let folded = Folded::start(Kept(writer), Steps::for_keeping(), tell)
            .map_err(|error| Failure::other(format!("failed to start the thread of the outputs: {error}")))?;
        Ok(Self { path: path.to_owned(), folded })
    }

    /// Where what is kept beside its samples goes in.
    pub(super) fn feed(&self) -> Feed<End> {
        self.folded.feed()
    }

    /// What brings it the samples of all agents.
    pub(super) fn sink(&self) -> Box<dyn DeltaSink> {
        Box::new(Sink(self.folded.feed()))
    }
}

struct Sink(Feed<End>);

impl DeltaSink for Sink {
    fn delta(&mut self, _: AgentId, part: &ThreadDelta) {
        self.0.add(&part.delta, part.span);
    }
}

/// Ends the files of a run. Returns whether all of them have all.
pub(super) fn finish(cx: &Context, files: Vec<ResultFile>, end: &End) -> bool {
    let mut is_whole = true;
    for file in files {
        let Err(why) = file.folded.finish(end.clone(), PATIENCE) else { continue };
        is_whole = false;
        cx.logger.error(format!("the result file {} lacks the end of the run: {why}", file.path.display()));
    }
    is_whole
}

fn head(args: &RunArgs, prepared: &Prepared, agents: u32) -> Head {
    let settings = &prepared.test.settings;
    Head {
        onrush: version::VERSION.to_owned(),
        started: rfc3339_nanos(Clock::unix_nanos(Clock::now())),
        started_ms: Some(Clock::unix_ms(Clock::now())),
        script: args.script.file.clone(),
        fingerprint: fingerprint(prepared),
        scenarios: prepared
            .plan
            .scenarios
            .iter()
            .map(|scenario| format!("{}: {}", scenario.name(), scenario.description))
            .collect(),
        plan: serde_json::to_value(view::scenarios(&prepared.plan)).ok(),
        agents,
        is_open: prepared.plan.is_open(),
        steady: prepared.plan.steady().into_iter().map(|(from_ns, until_ns)| Span { from_ns, until_ns }).collect(),
        metrics: MetricRow::all(&prepared.run.registry),
        thresholds: if args.no_thresholds { Default::default() } else { prepare::threshold_sources(&prepared.test) },
        trend_stats: settings.summary_trend_stats.clone(),
        time_unit: settings.summary_time_unit.clone(),
    }
}

/// Of the script's modules and of all options.
pub(super) fn fingerprint(prepared: &Prepared) -> String {
    let mut content = String::new();
    for module in &prepared.run.script.program.modules {
        // Lengths, so that no two programs have the same content.
        content.push_str(&format!("{} {}\n", module.source.len(), module.source));
    }
    content.push_str(&prepared.run.options_json);
    let Hash(bytes) = Hash::of(content.as_bytes());
    bytes[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}
