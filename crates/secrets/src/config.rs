//! The grammar of `--secret-source`: `TYPE[=ARGUMENTS]`, with `name=NAME` and `default` among the arguments or before
//! the type.

use std::collections::BTreeMap;

use crate::{
    source::{Named, Source},
    url::UrlSource,
};

/// What is wrong with a source, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConfigError {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl ConfigError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

pub(crate) struct Parsed {
    pub(crate) named: Named,
    pub(crate) is_default: bool,
}

/// The types there are.
const TYPES: &str = "mock=KEY=VALUE,…, file=PATH, env[=PREFIX] and url=urlTemplate=…";
/// Largest file of secrets.
const FILE_BYTES_MAX: u64 = 16 << 20;

pub(crate) fn parse(spec: &str, env: &BTreeMap<String, String>) -> Result<Parsed, ConfigError> {
    let (mut name, mut is_default) = (None, false);
    let mut rest = spec;
    // The documentation of k6 has them before the type, k6 itself among the arguments: both are understood.
    while let Some((first, after)) = rest.split_once(',') {
        match first.split_once('=') {
            Some(("name", value)) => name = Some(value.to_owned()),
            None if first == "default" => is_default = true,
            _ => break,
        }
        rest = after;
    }
    let (kind, arguments) = rest.split_once('=').unwrap_or((rest, ""));
    let mut own = Vec::new();
    for argument in arguments.split(',') {
        match argument.split_once('=') {
            Some(("name", value)) => name = Some(value.to_owned()),
            None if argument == "default" => is_default = true,
            _ => own.push(argument),
        }
    }
    own.retain(|argument| !argument.is_empty());
    let source = match kind {
        "mock" => mock(&own)?,
        "file" => file(&own)?,
        "env" => match own[..] {
            [] => Source::Env { prefix: String::new(), env: env.clone() },
            [prefix] => {
                let prefix = prefix.strip_prefix("prefix=").unwrap_or(prefix);
                if prefix.contains('=') {
                    return Err(ConfigError::new("unknown configuration key for env secret source")
                        .hint("write env, env=PREFIX or env=prefix=PREFIX"));
                }
                Source::Env { prefix: prefix.to_owned(), env: env.clone() }
            }
            _ => return Err(ConfigError::new("the env secret source takes one prefix")),
        },
        "url" => Source::Url(Box::new(UrlSource::parse(&own, env)?)),
        "cloud" => {
            return Err(ConfigError::new(
                "the 'cloud' secret source can only be used with 'k6 cloud run --local-execution'",
            ));
        }
        // The rest of the text may be a secret.
        other => {
            return Err(ConfigError::new(format!("no secret source for type \"{other}\""))
                .hint(format!("the types are {TYPES}")));
        }
    };
    let name = name.unwrap_or_else(|| kind.to_owned());
    if name.is_empty() || name == "default" {
        return Err(ConfigError::new(format!("a {kind} secret source cannot have the name \"{name}\"")));
    }
    Ok(Parsed { named: Named { name, source }, is_default })
}

fn mock(pairs: &[&str]) -> Result<Source, ConfigError> {
    if pairs.is_empty() {
        return Err(ConfigError::new("the mock secret source has no secrets").hint("write mock=KEY=VALUE,KEY=VALUE"));
    }
    let values = pairs.iter().enumerate().map(|(index, pair)| match pair.split_once('=') {
        Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
        // k6 shows the text, which may be a secret.
        None => Err(ConfigError::new(format!("entry {} of the mock secret source needs =", index + 1))
            .hint("write mock=KEY=VALUE,KEY=VALUE")),
    });
    Ok(Source::Fixed(values.collect::<Result<_, _>>()?))
}

fn file(arguments: &[&str]) -> Result<Source, ConfigError> {
    let path = match *arguments {
        [path] => match path.split_once('=') {
            Some(("filename", path)) => path,
            Some((key, _)) => {
                return Err(ConfigError::new(format!("unknown configuration key for file secret source \"{key}\""))
                    .hint("write file=PATH or file=filename=PATH"));
            }
            None => path,
        },
        [] => return Err(ConfigError::new("the file secret source has no path").hint("write file=PATH")),
        _ => return Err(ConfigError::new("the file secret source takes one path").hint("write file=PATH")),
    };
    let text = read(path)?;
    let mut values = BTreeMap::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        // k6 shows the line, which may be a secret.
        let Some((key, value)) = line.split_once('=') else {
            return Err(ConfigError::new(format!("line {} of the secrets in {path} needs =", index + 1))
                .hint("each line is KEY=VALUE"));
        };
        values.insert(key.to_owned(), value.to_owned());
    }
    Ok(Source::Fixed(values))
}

/// A small text file.
pub(crate) fn read(path: &str) -> Result<String, ConfigError> {
    let failed =
        |error: &dyn std::fmt::Display| ConfigError::new(format!("couldn't read the secrets in {path}: {error}"));
    let size = std::fs::metadata(path).map_err(|error| failed(&error))?.len();
    if size > FILE_BYTES_MAX {
        return Err(failed(&format_args!("it is larger than {FILE_BYTES_MAX} bytes")));
    }
    std::fs::read_to_string(path).map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Redactor, Secrets};

    fn secrets(specs: &[&str]) -> Result<Secrets, ConfigError> {
        let specs: Vec<String> = specs.iter().map(|&spec| spec.to_owned()).collect();
        let env = [("APP_KEY".to_owned(), "from env".to_owned())].into();
        Secrets::parse(&specs, &env, Arc::new(Redactor::default()))
    }

    fn check(specs: &[&str], source: Option<&str>, key: &str, expect: Result<&str, &str>) {
        let got = secrets(specs).map_err(|error| error.to_string()).and_then(|secrets| {
            let source = secrets.source(source).map_err(|error| error.to_string())?;
            secrets.get(source, key).map_err(|error| error.to_string())
        });
        assert_eq!(got.as_deref().map_err(String::as_str), expect, "{specs:?}");
    }

    #[test]
    fn sources() {
        check(&["mock=a=1,b=x=y"], None, "b", Ok("x=y"));
        check(&["mock=a=1"], None, "z", Err("no value"));
        check(&["mock=a="], None, "a", Ok(""));
        check(&[], None, "a", Err("no secret sources are configured"));
        check(&["mock=a=1"], Some("two"), "a", Err("no secret source with name \"two\" is configured"));
        check(&["mock=a=1"], Some("mock"), "a", Ok("1"));
        check(&["mock=name=x,a=1", "mock=default,a=2"], None, "a", Ok("2"));
        check(&["name=x,mock=a=1", "default,name=y,mock=a=2"], None, "a", Ok("2"));
        check(&["name=x,mock=a=1", "name=y,mock=a=2"], Some("x"), "a", Ok("1"));
        check(
            &["name=x,mock=a=1", "name=y,mock=a=2"],
            None,
            "a",
            Err("no secret source with name \"default\" is configured"),
        );
        check(&["env"], None, "APP_KEY", Ok("from env"));
        check(&["env=APP_"], None, "KEY", Ok("from env"));
        check(&["env=prefix=APP_"], None, "NOPE", Err("no value"));
    }

    #[test]
    fn mistakes_are_told_without_the_secret() {
        check(&["mokc=a=hunter2"], None, "", Err("no secret source for type \"mokc\""));
        check(&["mock=hunter2"], None, "", Err("entry 1 of the mock secret source needs ="));
        check(&["mock"], None, "", Err("the mock secret source has no secrets"));
        check(&["file=foo=a"], None, "", Err("unknown configuration key for file secret source \"foo\""));
        check(&["file="], None, "", Err("the file secret source has no path"));
        check(&["mock=a=1", "mock=a=2"], None, "", Err("secret source for name \"mock\" already registered"));
        check(
            &["mock=default,a=1", "mock=default,name=b,a=2"],
            None,
            "",
            Err("can't have two secret sources that are default ones, second one was \"b\""),
        );
        check(
            &["url=urlTemplate=http://h/x"],
            None,
            "",
            Err("missing or invalid config: urlTemplate must contain {key} placeholder"),
        );
        check(
            &["url=urlTemplate=http://h/{key},foo=1"],
            None,
            "",
            Err("missing or invalid config: unknown configuration key: \"foo\""),
        );
        check(&["url"], None, "", Err("missing or invalid config: urlTemplate is required"));
        check(
            &["url=urlTemplate=http://h/{key},timeout=x"],
            None,
            "",
            Err("missing or invalid config: timeout: time: invalid duration \"x\""),
        );
        check(
            &["url=urlTemplate=ftp://h/{key}"],
            None,
            "",
            Err("missing or invalid config: urlTemplate must begin with http:// or https://"),
        );
        check(
            &["cloud"],
            None,
            "",
            Err("the 'cloud' secret source can only be used with 'k6 cloud run --local-execution'"),
        );
    }

    #[test]
    fn files() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("secrets");
        let spec = format!("file={}", path.display());
        std::fs::write(&path, "a=1\n\nb=x=y\n").expect("written");
        check(&[&spec], None, "b", Ok("x=y"));
        check(&[&format!("file=filename={},name=f", path.display())], Some("f"), "a", Ok("1"));
        std::fs::write(&path, "a=1\nhunter2\n").expect("written");
        let error = secrets(&[&spec]).expect_err("a line without =").to_string();
        assert!(error.starts_with("line 2 of the secrets in ") && !error.contains("hunter2"), "{error}");
        let missing = secrets(&["file=nowhere"]).expect_err("no file").to_string();
        assert!(missing.starts_with("couldn't read the secrets in nowhere: No such file"), "{missing}");
    }
}
