//! What outputs have in common that tell one second of the run after the other, in a file or on standard output: `summary-json` and
//! `summary-csv`.

use std::{
    io,
    marker::PhantomData,
    path::{Path, PathBuf},
    time::Duration,
};

use onrush_metrics::Steps;
use onrush_output::{Began, Destination, Folded, StepOutput, reason};
use onrush_session::DeltaSink;

use super::{
    super::prepare::{Prepared, Readers},
    asked::Asked,
    folded::Sink,
    output::{Finished, Output, Started, Starting, Wish},
};
use crate::{failure::Failure, log::Level, save::place, terminal::Stdout};

/// A disk that takes nothing for so long takes nothing any more.
const PATIENCE: Duration = Duration::from_secs(30);

/// A format of seconds.
pub(super) trait Seconds: StepOutput + Sized {
    /// Its name in `--out`.
    const NAME: &'static str;

    /// What it needs of the samples beside what the summary needs.
    fn readers() -> Readers;

    /// Begins to write. Whoever feeds it notes spans in `began`.
    ///
    /// # Errors
    /// What the system says.
    fn begin(to: Destination, prepared: &Prepared, began: Began) -> io::Result<Self>;

    /// What it says at the end.
    fn end_of(finished: &Finished<'_>) -> Self::End;
}

/// Seconds that are wanted: in this file, or on standard output.
struct Wanted<S> {
    path: Option<PathBuf>,
    format: PhantomData<S>,
}

/// Seconds that are being written.
struct Writing<S: Seconds> {
    name: String,
    folded: Folded<S>,
    began: Began,
}

/// `NAME=FILE`; without a file, or with `-`, lines go to standard output.
pub(super) fn read<S: Seconds>(asked: &Asked<'_>) -> Wish {
    let path = match asked.argument_or_empty() {
        "" | "-" | "stdout" => None,
        file => Some(PathBuf::from(file)),
    };
    Wish::Folded(Box::new(Wanted::<S> { path, format: PhantomData }))
}

impl<S> Wanted<S> {
    fn name(&self) -> String {
        self.path.as_ref().map_or_else(|| "stdout".to_owned(), |path| path.display().to_string())
    }
}

impl<S: Seconds> Output for Wanted<S> {
    fn described(&self) -> String {
        format!("{} ({})", S::NAME, self.name())
    }

    fn file(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    fn readers(&self) -> Readers {
        S::readers()
    }

    fn start(&self, starting: &Starting<'_>) -> Result<Box<dyn Started>, Failure> {
        let (name, began) = (self.name(), Began::default());
        let to = match &self.path {
            Some(path) => place(path).and_then(|path| Destination::file(&path)),
            None => Ok(Destination::stream(Box::new(Stdout(starting.cx.terminal.clone())))),
        };
        let seconds = to.and_then(|to| S::begin(to, starting.prepared, began.clone())).map_err(|error| {
            let why = reason(&error);
            Failure::other(format!("could not create the '{}' output: open {name}: {why}", S::NAME))
        })?;
        let (logger, filename) = (starting.cx.logger.clone(), name.clone());
        let tell = move |error: &str| {
            let fields = vec![("error", error.to_owned()), ("filename", filename), ("output", S::NAME.to_owned())];
            logger.log(Level::Error, "an output failed and gets no more samples; the test goes on", fields);
        };
        let folded = Folded::start(seconds, Steps::of_seconds(), tell)
            .map_err(|error| Failure::other(format!("failed to start the thread of the outputs: {error}")))?;
        Ok(Box::new(Writing { name, folded, began }))
    }
}

impl<S: Seconds> Started for Writing<S> {
    fn sink(&self) -> Option<Box<dyn DeltaSink>> {
        Some(Box::new(Sink::new(self.folded.feed(), &self.began)))
    }

    fn finish(self: Box<Self>, finished: &Finished<'_>) -> bool {
        self.began.over(finished.end.duration_ns);
        let Err(why) = self.folded.finish(S::end_of(finished), PATIENCE) else { return true };
        finished.cx.logger.error(format!("{} ({}) lacks the end of the run: {why}", self.name, S::NAME));
        false
    }
}
