//! A fuzz driver for stable Rust: seeded mutations of a corpus, without coverage feedback.
//!
//! Every input is a pure function of the corpus and one 64-bit seed, so a seed is all a failure report needs.
//! Coverage-guided fuzzing of the same targets is in `fuzz/` (cargo-fuzz, nightly Rust).

mod corpus;
mod minimize;
mod mutator;
mod random;

use std::{
    cell::RefCell,
    io,
    panic::{self, AssertUnwindSafe},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

pub use corpus::{Corpus, pack, unpack};

pub use random::Random;

use self::mutator::Mutator;

/// What is fuzzed: panics (and running on and on) are findings.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, which is also its folder in `fuzz/corpus`.
    pub name: &'static str,
    /// Called with each input.
    pub run: fn(&[u8]),
    /// Pieces of the language it parses, put into inputs whole.
    pub words: &'static [&'static str],
    /// Largest input that is made.
    pub bytes_max: usize,
}

/// How much of it.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// The first input's seed; each further input has the next.
    pub seed: u64,
    /// Stop after this long.
    pub time: Duration,
    /// Stop after this many inputs.
    pub runs: u64,
}

/// Another start for each run; it is printed, and every finding prints its own.
#[must_use]
pub fn seed_of_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_micros() as u64)
}

/// How it went.
#[derive(Debug)]
pub enum Outcome {
    /// Nothing broke.
    Clean {
        /// Inputs tried.
        runs: u64,
        /// Time it took.
        time: Duration,
        /// The slowest input's time.
        slowest: Duration,
        /// Its seed.
        slowest_seed: u64,
    },
    /// Something broke.
    Broken(Finding),
}

/// An input that breaks the target.
#[derive(Debug)]
pub struct Finding {
    /// Gives this input again, with the same corpus.
    pub seed: u64,
    /// What the panic said, and where.
    pub message: String,
    /// The input, with what does not matter removed.
    pub input: Vec<u8>,
}

/// Feeds mutated inputs to the target until one breaks it or the effort is spent.
///
/// An input that runs longer than [`HANG`] ends the process, after its seed has been printed: a parser that hangs
/// cannot be stopped otherwise.
pub fn fuzz(target: &Target, corpus: &Corpus, effort: Effort) -> Outcome {
    let _silence = Silence::new();
    let watchdog = Watchdog::start(target.name);
    let mutator = Mutator::new(corpus, target.words, target.bytes_max);
    let start = Instant::now();
    let (mut runs, mut slowest) = (0, (Duration::ZERO, effort.seed));
    while runs < effort.runs && start.elapsed() < effort.time {
        let seed = effort.seed.wrapping_add(runs);
        let input = mutator.input(&mut Random::new(seed));
        watchdog.begin(seed);
        let began = Instant::now();
        if let Err(message) = attempt(target.run, &input) {
            let input = minimize::minimize(input, |candidate| {
                watchdog.begin(seed);
                attempt(target.run, candidate).is_err()
            });
            return Outcome::Broken(Finding { seed, message, input });
        }
        slowest = slowest.max((began.elapsed(), seed));
        runs += 1;
    }
    Outcome::Clean { runs, time: start.elapsed(), slowest: slowest.0, slowest_seed: slowest.1 }
}

/// Feeds every file of the corpus to the target as it is.
///
/// # Errors
/// The first finding.
pub fn replay(target: &Target, corpus: &Corpus) -> Result<(), Finding> {
    let _silence = Silence::new();
    for input in corpus.inputs() {
        attempt(target.run, input).map_err(|message| Finding { seed: 0, message, input: input.clone() })?;
    }
    Ok(())
}

/// Writes a finding's input beside the corpus and returns where.
///
/// # Errors
/// When it cannot be written.
pub fn keep(folder: &Path, target: &Target, finding: &Finding) -> io::Result<std::path::PathBuf> {
    let folder = folder.join("artifacts").join(target.name);
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(format!("seed-{}", finding.seed));
    std::fs::write(&path, &finding.input)?;
    Ok(path)
}

thread_local! {
    static MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs the target once; a panic's message is the error.
fn attempt(run: fn(&[u8]), input: &[u8]) -> Result<(), String> {
    panic::catch_unwind(AssertUnwindSafe(|| run(input)))
        .map_err(|_| MESSAGE.take().unwrap_or_else(|| "a panic without a message".to_owned()))
}

type Hook = Box<dyn Fn(&panic::PanicHookInfo<'_>) + Sync + Send + 'static>;

/// Keeps this process's panics from being printed and remembers their messages, until dropped.
struct Silence {
    previous: Option<Hook>,
}

impl Silence {
    fn new() -> Self {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(|info| MESSAGE.set(Some(info.to_string()))));
        Self { previous: Some(previous) }
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        // Hooks cannot be changed by a panicking thread; then the process is about to end anyway.
        if let (Some(previous), false) = (self.previous.take(), std::thread::panicking()) {
            panic::set_hook(previous);
        }
    }
}

/// Ends the process when one input runs too long.
struct Watchdog {
    seed: Arc<AtomicU64>,
    beats: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
}

impl Watchdog {
    #[expect(clippy::print_stderr, reason = "nothing else can stop or report an input that hangs")]
    fn start(name: &'static str) -> Self {
        let watchdog = Self { seed: Arc::default(), beats: Arc::default(), is_over: Arc::default() };
        let (seed, beats, is_over) = (watchdog.seed.clone(), watchdog.beats.clone(), watchdog.is_over.clone());
        std::thread::spawn(move || {
            let mut seen = (beats.load(Ordering::Relaxed), Instant::now());
            while !is_over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(200));
                let now = beats.load(Ordering::Relaxed);
                if now != seen.0 {
                    seen = (now, Instant::now());
                } else if now > 0 && seen.1.elapsed() > HANG {
                    let seed = seed.load(Ordering::Relaxed);
                    eprintln!("{name}: the input of seed {seed} runs longer than {} s", HANG.as_secs());
                    eprintln!("reproduce: cargo xtask fuzz {name} --seed {seed} --runs 1");
                    std::process::exit(1);
                }
            }
        });
        watchdog
    }

    fn begin(&self, seed: u64) {
        self.seed.store(seed, Ordering::Relaxed);
        self.beats.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// Inputs are a few kilobytes and take microseconds; ten seconds are a hang, however busy the machine.
pub const HANG: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    const HAYSTACK: Target = Target {
        name: "haystack",
        run: |input| assert!(!input.windows(6).any(|window| window == b"needle"), "found it"),
        words: &["need"],
        bytes_max: 64,
    };

    const QUIET: Target = Target { run: |_| (), ..HAYSTACK };

    fn corpus() -> Corpus {
        Corpus::new(vec![b"some needles".to_vec().into_iter().rev().collect(), b"a needl".to_vec(), b"le".to_vec()])
    }

    fn effort(runs: u64, seed: u64) -> Effort {
        Effort { seed, time: Duration::from_secs(3600), runs }
    }

    #[test]
    fn a_finding_has_its_seed_and_the_smallest_input() {
        let Outcome::Broken(finding) = fuzz(&HAYSTACK, &corpus(), effort(200_000, 1)) else { panic!("not found") };
        assert_eq!(finding.input, b"needle");
        assert!(finding.message.contains("found it"), "{}", finding.message);
        let Outcome::Broken(again) = fuzz(&HAYSTACK, &corpus(), effort(1, finding.seed)) else { panic!("not again") };
        assert_eq!(again.seed, finding.seed);
    }

    #[test]
    fn nothing_found_says_how_much_was_tried() {
        let Outcome::Clean { runs, .. } = fuzz(&QUIET, &corpus(), effort(100, 7)) else { panic!("nothing breaks") };
        assert_eq!(runs, 100);
        assert!(replay(&QUIET, &corpus()).is_ok());
        let whole = Corpus::new(vec![b"a needle".to_vec()]);
        assert_eq!(replay(&HAYSTACK, &whole).map_err(|finding| finding.input), Err(b"a needle".to_vec()));
    }
}
