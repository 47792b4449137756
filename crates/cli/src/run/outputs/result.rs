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
    super::{
        prepare::{self, Prepared, Readers},
        view,
    },
    asked::Asked,
    output::{Finished, Output, Started, Starting, Wish},
};
use crate::{
    args::RunArgs,
    context::Context,
    failure::Failure,
    log::{Level, rfc3339_nanos},
    save::place,
    version,
};

/// A disk that takes nothing for so long takes nothing any more.
const PATIENCE: Duration = Duration::from_secs(30);

/// The file where none is named.
const FILE: &str = "result.onrush";

/// A file that is wanted.
struct Wanted(PathBuf);

/// A file that is being written.
struct ResultFile {
    path: PathBuf,
    folded: Folded<Kept>,
}

/// `result=FILE`.
pub(super) fn read(asked: &Asked<'_>) -> Result<Wish, Failure> {
    let path = asked.file(FILE)?;
    Ok(Wish::Folded(Box::new(Wanted(path))))
}

/// A file at this place.
pub(super) fn kept(path: PathBuf) -> Box<dyn Output> {
    Box::new(Wanted(path))
}

impl Output for Wanted {
    fn described(&self) -> String {
        format!("result ({})", self.0.display())
    }

    fn file(&self) -> Option<&Path> {
        Some(&self.0)
    }

    fn readers(&self) -> Readers {
        Readers { results: true, ..Readers::default() }
    }

    fn start(&self, starting: &Starting<'_>) -> Result<Box<dyn Started>, Failure> {
        let head = head(starting.args, starting.prepared, starting.agents);
        Ok(Box::new(ResultFile::new(starting.cx, &self.0, &head)?))
    }
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

impl ResultFile {
    fn new(cx: &Context, path: &Path, head: &Head) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let failed =
            |error: String| Failure::other(format!("could not create the 'result' output: open {name}: {error}"));
        let file = place(path).and_then(|path| onrush_output::create(&path)).map_err(|error| failed(reason(&error)))?;
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
}

impl Started for ResultFile {
    fn sink(&self) -> Option<Box<dyn DeltaSink>> {
        Some(Box::new(Sink(self.folded.feed())))
    }

    fn notes(&self) -> Option<Feed<End>> {
        Some(self.folded.feed())
    }

    fn finish(self: Box<Self>, finished: &Finished<'_>) -> bool {
        let Err(why) = self.folded.finish(finished.end.clone(), PATIENCE) else { return true };
        finished.cx.logger.error(format!("the result file {} lacks the end of the run: {why}", self.path.display()));
        false
    }
}

struct Sink(Feed<End>);

impl DeltaSink for Sink {
    fn delta(&mut self, _: AgentId, part: &ThreadDelta) {
        self.0.add(&part.delta, part.span);
    }
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
pub(in crate::run) fn fingerprint(prepared: &Prepared) -> String {
    let mut content = String::new();
    for module in &prepared.run.script.program.modules {
        // Lengths, so that no two programs have the same content.
        content.push_str(&format!("{} {}\n", module.source.len(), module.source));
    }
    content.push_str(&prepared.run.options_json);
    let Hash(bytes) = Hash::of(content.as_bytes());
    bytes[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}
