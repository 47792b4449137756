//! The settings of a run that scripts cannot make: read from flags and variables, checked, typed.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use onrush_js::init::IsolationMode;
use onrush_metrics::summary::SummaryMode;
use onrush_net::Arrivals;
use onrush_script::CompatibilityMode;
use onrush_secrets::Secrets;

use crate::{cluster::ClusterArgs, failure::Failure, flags::Flags, gate::Gate, run::config_file::ConfigFile};

/// What `onrush run` was asked for, options aside.
#[derive(Debug)]
pub(crate) struct RunArgs {
    /// The script.
    pub(crate) script: ScriptArgs,
    /// `--fail-on`
    pub(crate) gate: Gate,
    /// `--no-thresholds`
    pub(crate) no_thresholds: bool,
    /// The summary's layout.
    pub(crate) summary_mode: SummaryMode,
    /// Where the summary goes as JSON.
    pub(crate) summary_export: Option<String>,
    /// The newer shape of that JSON.
    pub(crate) machine_readable: bool,
    /// No banner, no progress.
    pub(crate) quiet: bool,
    /// How a terminal shows the run.
    pub(crate) view: Shown,
    /// Worker threads, if chosen.
    pub(crate) threads: Option<usize>,
    /// Most bytes of a response's body that is kept, if chosen.
    pub(crate) response_body_bytes_max: Option<u64>,
    pub(crate) arrivals: Arrivals,
    /// `--intended-latency`
    pub(crate) intended_latency: bool,
    /// Where the REST API is to be, if anywhere.
    pub(crate) api: Option<ApiArgs>,
    /// Stay after the test.
    pub(crate) linger: bool,
    /// The result of a steered run that this one is to be steered as.
    pub(crate) replay: Option<String>,
    /// Start although the machine has less than the test needs.
    pub(crate) force: bool,
    /// The agents of the run, where they are processes of their own.
    pub(crate) cluster: Option<ClusterArgs>,
    /// The heading of a one-liner, whose result is printed in another way than that of a script.
    pub(crate) one_liner: Option<String>,
}

/// Which script, and how its init code is run.
#[derive(Debug)]
pub(crate) struct ScriptArgs {
    /// A path, or `-`.
    pub(crate) file: String,
    /// The script itself, where it is made by this program.
    pub(crate) source: Option<String>,
    /// The archive itself, where it came from a coordinator.
    pub(crate) archive: Option<Arc<[u8]>>,
    /// Sources of secrets, where the coordinator has them.
    pub(crate) secrets: Option<Arc<Secrets>>,
    /// What it is, if it was said.
    pub(crate) kind: Option<InputKind>,
    /// How it is read; `None` is the default, or what an archive says.
    pub(crate) compatibility: Option<CompatibilityMode>,
    /// `__ENV`, over the variables of an archive.
    pub(crate) env: BTreeMap<String, String>,
    /// The VU layout.
    pub(crate) isolation: IsolationMode,
    /// Bytes of one VU's heap.
    pub(crate) vu_memory_bytes: usize,
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputKind {
    /// A script.
    Script,
    /// An archive.
    Archive,
}

/// The REST API as it was asked for.
pub(crate) struct ApiArgs {
    /// Where.
    pub(crate) address: String,
    /// What requests must carry, if anything.
    pub(crate) token: Option<String>,
    /// Who says where.
    pub(crate) origin: ApiOrigin,
    /// PEM files of the certificate that is shown and its key.
    pub(crate) identity: Option<(PathBuf, PathBuf)>,
}

/// Who said where the REST API is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ApiOrigin {
    /// `--address`: then the run does not start without it.
    Flag,
    /// `K6_ADDRESS`.
    Variable,
    /// Nobody.
    Default,
}

/// The token does not show.
impl std::fmt::Debug for ApiArgs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ApiArgs").field("address", &self.address).field("origin", &self.origin).finish_non_exhaustive()
    }
}

impl ApiArgs {
    /// Where a run's REST API is unless it is said otherwise. k6 1.x has it on by default, k6 2.x does not.
    const DEFAULT: &str = "localhost:6565";

    /// Reads `--address` and what belongs to it, with their variables; `None` when the address is empty.
    ///
    /// # Errors
    /// When there is a certificate without its key, or the other way round.
    pub(crate) fn new(flags: &Flags) -> Result<Option<Self>, Failure> {
        let flag = flags.values("address").pop();
        let (address, origin) = match (flag, flags.env.get("K6_ADDRESS")) {
            (Some(address), _) => (address, ApiOrigin::Flag),
            (None, Some(address)) => (address.clone(), ApiOrigin::Variable),
            (None, None) => (Self::DEFAULT.to_owned(), ApiOrigin::Default),
        };
        let identity = Self::identity(flags)?;
        Ok((!address.is_empty()).then(|| Self { address, token: flags.text("api-token"), origin, identity }))
    }

    /// The files of the certificate that is shown and its key.
    ///
    /// # Errors
    /// When there is one without the other.
    pub(crate) fn identity(flags: &Flags) -> Result<Option<(PathBuf, PathBuf)>, Failure> {
        match (flags.text("api-tls-cert"), flags.text("api-tls-key")) {
            (Some(certificate), Some(key)) => Ok(Some((certificate.into(), key.into()))),
            (None, None) => Ok(None),
            (Some(_), None) => Err(Failure::other("--api-tls-cert needs --api-tls-key, the file of its private key")),
            (None, Some(_)) => Err(Failure::other("--api-tls-key needs --api-tls-cert, the file of its certificate")),
        }
    }
}

/// Most worker threads for each core: more only take turns.
const THREADS_PER_CORE_MAX: usize = 8;
/// Least heap of a VU: the k6 modules and a small script need about half of it.
const VU_MEMORY_BYTES_MIN: u64 = 256 << 10;

impl RunArgs {
    /// Reads the settings of `run`.
    ///
    /// # Errors
    /// Exit code 255, k6's texts where it has them.
    pub(crate) fn new(flags: &Flags, config: &ConfigFile, files: &[String]) -> Result<Self, Failure> {
        let script = ScriptArgs::new(flags, files, true)?;
        let on = |long: &str| flags.switch(long).map(|switch| switch.unwrap_or(false));
        // It changes nothing, but what is wrong is told.
        on("no-usage-report")?;
        let summary_mode = summary_mode(flags)?;
        Ok(Self {
            script,
            no_thresholds: on("no-thresholds")?,
            gate: Gate::given(flags)?,
            summary_mode: if on("no-summary")? { SummaryMode::Disabled } else { summary_mode },
            // k6: an empty path is none.
            summary_export: flags.text("summary-export").filter(|path| !path.is_empty()),
            machine_readable: on("new-machine-readable-summary")?,
            quiet: on("quiet")?,
            view: shown(flags)?,
            threads: threads(flags)?,
            response_body_bytes_max: flags.text("response-body-limit").map(|text| body_limit(&text)).transpose()?,
            arrivals: arrivals(flags),
            intended_latency: on("intended-latency")?,
            api: ApiArgs::new(flags)?,
            linger: flags.switch("linger")?.or(config.linger).unwrap_or(false),
            replay: flags.text("replay"),
            force: on("force")?,
            cluster: None,
            one_liner: None,
        })
    }
}

/// How a terminal shows a run: `--ui`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// A few lines, drawn over and over.
    Board,
    /// A view of the whole of it, where there is a terminal: `ONRUSH_UI`.
    ViewIfPossible,
    /// A view, or the run does not start.
    View,
}

fn shown(flags: &Flags) -> Result<Shown, Failure> {
    let has_flag = !flags.values("ui").is_empty();
    match flags.text("ui").as_deref() {
        None | Some("board") => Ok(Shown::Board),
        Some("tui") => Ok(if has_flag { Shown::View } else { Shown::ViewIfPossible }),
        Some(other) => Err(Failure::other(format!("there is no view '{other}' for --ui")).hint("use board or tui")),
    }
}

/// What is asked of the kernel about arrivals. Durations that end there need all connections to say.
fn arrivals(flags: &Flags) -> Arrivals {
    let end_durations = flags.text("latency").as_deref() == Some("kernel");
    let one_of = match flags.text("own-delay").as_deref() {
        Some("all") => 1,
        _ if end_durations => 1,
        Some("off") => 0,
        _ => Arrivals::SAMPLED,
    };
    Arrivals { one_of, end_durations }
}

impl ScriptArgs {
    /// Reads what says which script it is and how to run its init code. `system_env`: whether scripts see the
    /// process's environment when nothing is said about it.
    ///
    /// # Errors
    /// Exit code 255, k6's texts where it has them.
    pub(crate) fn new(flags: &Flags, files: &[String], system_env: bool) -> Result<Self, Failure> {
        let [file] = files else {
            return Err(Failure::other(format!(
                "accepts 1 arg(s), received {}: arg should either be \"-\", if reading script from stdin, or a path to a script file",
                files.len()
            )));
        };
        let compatibility = flags.text("compatibility-mode").map(|mode| mode.parse()).transpose();
        Ok(Self {
            file: file.clone(),
            source: None,
            archive: None,
            secrets: None,
            kind: match flags.text("type").as_deref() {
                None => None,
                Some("js") => Some(InputKind::Script),
                Some("archive") => Some(InputKind::Archive),
                Some(other) => {
                    return Err(Failure::other(format!(
                        "could not initialize '{file}': unknown or unspecified test type '{other}'"
                    ))
                    .hint("use js or archive"));
                }
            },
            compatibility: compatibility
                .map_err(|error: onrush_script::UnknownMode| Failure::other(error.to_string()))?,
            env: script_env(flags, system_env)?,
            isolation: match flags.text("vu-isolation").as_deref() {
                None | Some("auto") => IsolationMode::Auto,
                Some("dense") => IsolationMode::Dense,
                Some("isolated") => IsolationMode::Isolated,
                Some(other) => {
                    return Err(Failure::other(format!(
                        "invalid VU layout \"{other}\". Use: \"auto\", \"dense\", \"isolated\""
                    )));
                }
            },
            vu_memory_bytes: match flags.text("vu-memory-limit") {
                Some(text) => memory_limit(&text)?,
                None => onrush_js::ScriptEnv::MEMORY_LIMIT_BYTES,
            },
        })
    }
}

/// Worker threads that were asked for.
///
/// # Errors
/// A number out of range.
pub(crate) fn threads(flags: &Flags) -> Result<Option<usize>, Failure> {
    let Some(text) = flags.text("threads") else { return Ok(None) };
    let max = onrush_engine::cores() * THREADS_PER_CORE_MAX;
    match text.parse::<usize>() {
        Ok(threads) if (1..=max).contains(&threads) => Ok(Some(threads)),
        _ => Err(Failure::other(format!("invalid number of threads \"{text}\", use 1 to {max} on this machine"))),
    }
}

fn script_env(flags: &Flags, system_env: bool) -> Result<BTreeMap<String, String>, Failure> {
    let includes = flags.switch("include-system-env-vars")?.unwrap_or(system_env);
    let mut env = if includes { flags.env.clone() } else { BTreeMap::new() };
    // Scripts may come from elsewhere and print what they like.
    env.remove("ONRUSH_API_TOKEN");
    env.remove("ONRUSH_JOIN_TOKEN");
    // k6: an empty text is as no flag.
    for entry in flags.values("env").into_iter().filter(|entry| !entry.is_empty()) {
        let (name, value) = match entry.split_once('=') {
            Some((name, value)) => (name, value.to_owned()),
            // A name alone copies the variable, which may be unset.
            None => (entry.as_str(), flags.env.get(&entry).cloned().unwrap_or_default()),
        };
        if !is_variable_name(name) {
            return Err(Failure::other(format!("invalid environment variable name '{name}'")));
        }
        env.insert(name.to_owned(), value);
    }
    Ok(env)
}

/// `^[a-zA-Z_][a-zA-Z0-9_]*$`
fn is_variable_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|char| char.is_ascii_alphanumeric() || char == '_')
}

fn memory_limit(text: &str) -> Result<usize, Failure> {
    let bytes =
        parse_bytes(text).filter(|bytes| *bytes >= VU_MEMORY_BYTES_MIN).and_then(|bytes| usize::try_from(bytes).ok());
    bytes.ok_or_else(|| {
        Failure::other(format!("invalid VU memory limit \"{text}\", use a size of at least 256KiB such as 64MiB"))
    })
}

fn body_limit(text: &str) -> Result<u64, Failure> {
    parse_bytes(text).filter(|bytes| *bytes > 0).ok_or_else(|| {
        Failure::other(format!("invalid response body limit \"{text}\", use a size of at least 1 byte such as 16MiB"))
    })
}

/// A number of bytes, as `512MiB`, `64MB`, `1G` (binary) or plain.
fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..end].parse().ok()?;
    let unit: u64 = match text[end..].trim_start().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        _ => return None,
    };
    number.checked_mul(unit)
}

/// Reads `--summary-mode`.
///
/// # Errors
/// 255 for a mode there is not.
pub(crate) fn summary_mode(flags: &Flags) -> Result<SummaryMode, Failure> {
    let Some(mode) = flags.text("summary-mode") else { return Ok(SummaryMode::default()) };
    SummaryMode::parse(&mode)
        .map_err(|error| Failure::other(error.to_string()).hint("use compact, full, legacy or disabled"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let check = |text: &str, expect: Option<u64>| assert_eq!(parse_bytes(text), expect, "{text}");
        check("512MiB", Some(512 << 20));
        check("64mb", Some(64_000_000));
        check("1 G", Some(1 << 30));
        check("4096", Some(4096));
        check("", None);
        check("-1", None);
        check("1.5G", None);
        check("99999999999999999999", None);
        check("99999999999GiB", None);
    }

    #[test]
    fn script_environment() {
        let check = |flags: &[&str], expect: Result<&[(&str, &str)], &str>| {
            let flags = Flags {
                by_name: [
                    ("env", flags.iter().map(|&flag| flag.to_owned()).collect()),
                    ("include-system-env-vars", vec!["false".to_owned()]),
                ]
                .into(),
                env: [("HOME".to_owned(), "/root".to_owned())].into(),
            };
            let env = script_env(&flags, true).map_err(|failure| failure.message);
            let env = env.map(|env| env.into_iter().collect::<Vec<_>>());
            let expect =
                expect.map(|pairs| pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<Vec<_>>());
            assert_eq!(env, expect.map_err(str::to_owned));
        };
        check(&["A=1", "B=x=y", "A=2"], Ok(&[("A", "2"), ("B", "x=y")]));
        check(&["HOME", "NOT_SET"], Ok(&[("HOME", "/root"), ("NOT_SET", "")]));
        check(&["1a=b"], Err("invalid environment variable name '1a'"));
        check(&["=b"], Err("invalid environment variable name ''"));
    }
}
