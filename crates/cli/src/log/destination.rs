//! `--log-output`: where log lines go.

use crate::{failure::Failure, line::Level, masked};

/// Where log lines go.
#[derive(Debug, Clone)]
pub(crate) enum Destination {
    /// The standard error stream.
    Stderr,
    /// The standard output stream.
    Stdout,
    /// Nowhere.
    None,
    /// Appended to a file.
    File {
        /// Its path.
        path: String,
        /// The least level that is written.
        level: Level,
    },
    /// Pushed to Grafana Loki.
    Loki {
        /// Where it is, and what it is told.
        config: Box<onrush_output::loki::Config>,
        /// The least level that is sent.
        level: Level,
    },
}

impl Destination {
    /// Reads `stderr`, `stdout`, `none`, `file=path[,level=debug]` or `loki[=url,key=value,…]`.
    ///
    /// # Errors
    /// Exit code 255, k6's texts.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        match text {
            "stderr" => return Ok(Self::Stderr),
            "stdout" => return Ok(Self::Stdout),
            "none" => return Ok(Self::None),
            _ => {}
        }
        if let Some(rest) = if text == "loki" { Some("") } else { text.strip_prefix("loki=") } {
            let (config, level) = super::loki::parse(rest)?;
            return Ok(Self::Loki { config: Box::new(config), level });
        }
        if text == "file" {
            return Err(Failure::other("error while parsing logfile configuration key `file` with no value")
                .hint("write file=PATH"));
        }
        let Some(rest) = text.strip_prefix("file=") else {
            // What follows may be secret.
            let name = masked::address(text.split(['=', ',']).next().unwrap_or_default());
            return Err(Failure::other(format!("unsupported log output '{name}'"))
                .hint("use stderr, stdout, none, file=PATH or loki=URL"));
        };
        let mut parts = rest.split(',');
        let path = parts.next().unwrap_or_default();
        if path.is_empty() {
            return Err(Failure::other("filepath must not be empty"));
        }
        let mut level = Level::Debug;
        for part in parts {
            match part.split_once('=') {
                Some(("level", name)) => {
                    level = parse_level(name).ok_or_else(|| Failure::other(format!("unknown log level {name}")))?;
                }
                Some((key, _)) => {
                    return Err(Failure::other(format!("unknown logfile config key {key}")).hint("the key is level"));
                }
                None => {
                    return Err(Failure::other(format!(
                        "error while parsing logfile configuration key `{part}` with no value"
                    ))
                    .hint("the key is level"));
                }
            }
        }
        Ok(Self::File { path: path.to_owned(), level })
    }
}

pub(super) fn parse_level(name: &str) -> Option<Level> {
    match name.to_ascii_lowercase().as_str() {
        "trace" | "debug" => Some(Level::Debug),
        "info" => Some(Level::Info),
        "warn" | "warning" => Some(Level::Warn),
        "error" | "fatal" | "panic" => Some(Level::Error),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations() {
        let check = |text: &str, expect: Result<&str, &str>| {
            let parsed = Destination::parse(text).map_err(|failure| failure.message);
            let shown = parsed.map(|destination| match destination {
                Destination::Loki { level, .. } => format!("Loki {level:?}"),
                other => format!("{other:?}"),
            });
            assert_eq!(shown, expect.map(str::to_owned).map_err(str::to_owned));
        };
        check("stderr", Ok("Stderr"));
        check("none", Ok("None"));
        check("file=/var/a.log", Ok("File { path: \"/var/a.log\", level: Debug }"));
        check("file=a.log,level=warning", Ok("File { path: \"a.log\", level: Warn }"));
        check("loki", Ok("Loki Debug"));
        check("loki=http://h/push,level=error", Ok("Loki Error"));
        check("file=a,foo", Err("error while parsing logfile configuration key `foo` with no value"));
        check("zz", Err("unsupported log output 'zz'"));
        check("file", Err("error while parsing logfile configuration key `file` with no value"));
        check("file=", Err("filepath must not be empty"));
        check("file=a,level=x", Err("unknown log level x"));
        check("file=a,size=3", Err("unknown logfile config key size"));
    }
}
