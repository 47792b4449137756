//! The sources of a run and how a secret is read from them.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use onrush_fiber::{Clock, Woke};

use crate::{ConfigError, Elsewhere, Redactor, TooManySecrets, config, url::UrlSource};

/// The sources that were asked for.
#[derive(Default)]
pub struct Secrets {
    sources: Vec<Named>,
    default: Option<usize>,
    redactor: Arc<Redactor>,
    /// What has been read, by source and key: a secret does not change during a run.
    known: Mutex<HashMap<(usize, String), String>>,
    /// What services are being asked for: a thousand VUs that begin with the same secret ask once.
    asked: Mutex<HashSet<(usize, String)>>,
}

/// A source of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceId(usize);

pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) source: Source,
}

/// Where values are.
pub(crate) enum Source {
    /// Values known from the start.
    Fixed(BTreeMap<String, String>),
    /// Variables of the process whose names begin with this.
    Env { prefix: String, env: BTreeMap<String, String> },
    /// An HTTP service.
    Url(Box<UrlSource>),
    /// Another process, which has the source of that name.
    Elsewhere(Arc<Elsewhere>),
}

/// Why there is no secret. The texts are k6's where it has them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GetError {
    /// No source at all.
    #[error("no secret sources are configured")]
    NoSources,
    /// Not this one.
    #[error("no secret source with name \"{0}\" is configured")]
    UnknownSource(String),
    /// The source has no such key.
    #[error("no value")]
    NoValue,
    /// The service did not give it.
    #[error("{0}")]
    Service(String),
    /// The caller was cancelled.
    #[error("interrupted")]
    Cancelled,
    /// Too many values to hide.
    #[error(transparent)]
    TooMany(#[from] TooManySecrets),
}

impl Secrets {
    /// Reads what `--secret-source` asks for. `env` is the process's environment.
    ///
    /// # Errors
    /// What is wrong, without quoting what may be a secret.
    pub fn parse(
        specs: &[String],
        env: &BTreeMap<String, String>,
        redactor: Arc<Redactor>,
    ) -> Result<Self, ConfigError> {
        let mut secrets = Self { redactor, ..Self::default() };
        for spec in specs {
            let config::Parsed { named, is_default } = config::parse(spec, env)?;
            if secrets.sources.iter().any(|known| known.name == named.name) {
                return Err(ConfigError::new(format!("secret source for name \"{}\" already registered", named.name))
                    .hint("give one of them another name with name=NAME"));
            }
            if is_default && secrets.default.is_some() {
                let text = "can't have two secret sources that are default ones";
                return Err(ConfigError::new(format!("{text}, second one was \"{}\"", named.name)));
            }
            if let Source::Fixed(values) = &named.source {
                for value in values.values() {
                    secrets.redactor.add(value).map_err(|error| ConfigError::new(error.to_string()))?;
                }
            }
            if is_default {
                secrets.default = Some(secrets.sources.len());
            }
            secrets.sources.push(named);
        }
        if secrets.sources.len() == 1 {
            secrets.default = Some(0);
        }
        Ok(secrets)
    }

    /// The sources of another process, by their names; `default` is the number of the default one.
    pub fn elsewhere(
        names: Vec<String>,
        default: Option<usize>,
        elsewhere: &Arc<Elsewhere>,
        redactor: Arc<Redactor>,
    ) -> Self {
        let source = |name| Named { name, source: Source::Elsewhere(Arc::clone(elsewhere)) };
        let default = default.filter(|number| *number < names.len());
        Self { sources: names.into_iter().map(source).collect(), default, redactor, ..Self::default() }
    }

    /// The names of the sources, and the number of the default one.
    pub fn names(&self) -> (Vec<&str>, Option<usize>) {
        (self.sources.iter().map(|source| source.name.as_str()).collect(), self.default)
    }

    /// The text without secrets, for what must be shortened: a cut could leave a part of one.
    pub fn redact<'a>(&self, text: &'a str) -> std::borrow::Cow<'a, str> {
        self.redactor.redact(text)
    }

    /// The source of that name, or the default one.
    ///
    /// # Errors
    /// When there is none.
    pub fn source(&self, name: Option<&str>) -> Result<SourceId, GetError> {
        if self.sources.is_empty() {
            return Err(GetError::NoSources);
        }
        let found = match name {
            None | Some("default") => self.default,
            Some(_) => None,
        };
        let found = found.or_else(|| self.sources.iter().position(|source| Some(source.name.as_str()) == name));
        found.map(SourceId).ok_or_else(|| GetError::UnknownSource(name.unwrap_or("default").to_owned()))
    }

    /// Whether reading from the source may take time, so that it must happen on a fiber of its own.
    pub fn waits(&self, source: SourceId) -> bool {
        self.sources.get(source.0).is_some_and(|named| matches!(named.source, Source::Url(_) | Source::Elsewhere(_)))
    }

    /// Reads a secret. Where [`Secrets::waits`] says so this must be on a fiber, which is suspended.
    ///
    /// # Errors
    /// When there is no value.
    pub fn get(&self, source: SourceId, key: &str) -> Result<String, GetError> {
        let id = (source.0, key.to_owned());
        let is_asked = self.waits(source);
        loop {
            if let Some(value) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&id) {
                return Ok(value.clone());
            }
            if !is_asked || self.asked.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone()) {
                break;
            }
            if onrush_fiber::sleep_until(Clock::now() + LOOK_INTERVAL) == Woke::Cancelled {
                return Err(GetError::Cancelled);
            }
        }
        let result = self.read(source, key);
        if is_asked {
            self.asked.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        }
        result
    }

    fn read(&self, source: SourceId, key: &str) -> Result<String, GetError> {
        let named = self.sources.get(source.0).ok_or(GetError::NoSources)?;
        let value = match &named.source {
            Source::Fixed(values) => values.get(key).cloned().ok_or(GetError::NoValue)?,
            Source::Env { prefix, env } => env.get(&format!("{prefix}{key}")).cloned().ok_or(GetError::NoValue)?,
            Source::Url(url) => url.get(key)?,
            Source::Elsewhere(elsewhere) => elsewhere.get(&named.name, key)?,
        };
        self.redactor.add(&value)?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // Bounded as the redactor is, but for empty values under ever new keys.
        if known.len() < Redactor::SECRETS_MAX {
            known.insert((source.0, key.to_owned()), value.clone());
        }
        Ok(value)
    }
}

/// How often a fiber looks whether another one's answer has come.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.sources.iter().map(|source| &source.name)).finish()
    }
}
