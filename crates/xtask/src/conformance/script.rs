//! A script of the conformance folder: its head, and the record beside it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::json::{read_json, sorted};

/// A script and what its head asks for.
#[derive(Debug, Clone, Default)]
pub(super) struct Script {
    /// Area and file without its ending: `http/redirects`.
    pub(super) name: String,
    pub(super) path: PathBuf,
    /// The head's first lines: what the script is about.
    pub(super) topic: String,
    /// Flags of `run`.
    pub(super) flags: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    /// Files of `conformance/files` it needs: (name in its folder, source).
    pub(super) files: Vec<(String, String)>,
    /// Raw outputs whose lines are compared: `json`, `csv`.
    pub(super) out: Vec<String>,
    /// Names are resolved by the lab's DNS server.
    pub(super) is_resolver: bool,
    /// It makes connections to `::1`.
    pub(super) needs_ipv6: bool,
    /// It is read from standard input.
    pub(super) is_stdin: bool,
    /// Variables in its text are filled in: names of modules have to be literals.
    pub(super) is_importing: bool,
    /// When its log shows this, it gets a SIGINT.
    pub(super) interrupt: Option<String>,
    /// Metrics that are otherwise left out (`vus`, `vus_max`).
    pub(super) keep: Vec<String>,
    /// Metrics whose values differ from run to run; only their keys are compared.
    pub(super) varies: Vec<String>,
    /// Files it writes that are compared; `stdout` is one.
    pub(super) written: Vec<String>,
}

impl Script {
    /// Reads the comment lines a script begins with.
    fn parse(name: &str, path: &Path, text: &str) -> Result<Self> {
        let mut script = Self { name: name.to_owned(), path: path.to_owned(), ..Self::default() };
        let mut topic = Vec::new();
        for line in text.lines().map_while(|line| line.strip_prefix("//")).map(str::trim) {
            let words = || line.split_whitespace().skip(1).map(str::to_owned);
            match line.split_once(':').map_or(line, |(key, _)| key) {
                "flags" => script.flags.extend(split(rest(line))?),
                "env" => {
                    for pair in split(rest(line))? {
                        let (name, value) =
                            pair.split_once('=').with_context(|| format!("`{pair}` is not NAME=VALUE"))?;
                        script.env.insert(name.to_owned(), value.to_owned());
                    }
                }
                "files" => script.files.extend(words().map(|word| match word.split_once('=') {
                    Some((name, source)) => (name.to_owned(), source.to_owned()),
                    None => (word.clone(), word),
                })),
                "out" => script.out.extend(words()),
                "keep" => script.keep.extend(words()),
                "varies" => script.varies.extend(words()),
                "written" => script.written.extend(words()),
                "interrupt" => script.interrupt = Some(rest(line).to_owned()),
                "resolver" => script.is_resolver = true,
                "ipv6" => script.needs_ipv6 = true,
                "stdin" => script.is_stdin = true,
                "imports" => script.is_importing = true,
                _ => topic.push(line),
            }
        }
        if topic.is_empty() {
            bail!("{name}: the first line must be a comment that says what the script is about");
        }
        if let Some(unknown) = script.out.iter().find(|kind| !["json", "csv"].contains(&kind.as_str())) {
            bail!("{name}: out: {unknown}: json and csv are compared");
        }
        script.topic = topic.join(" ");
        Ok(script)
    }

    /// What k6 does with it.
    ///
    /// # Errors
    /// When nothing is recorded, or when it was recorded with other flags or variables.
    pub(super) fn recorded(&self) -> Result<Value> {
        let path = self.record_path();
        if !path.exists() {
            bail!("nothing is recorded: K6=/path/to/k6 cargo xtask conformance --record --only {}", self.name);
        }
        let mut record = read_json(&path)?;
        if record["run"] != self.conditions() {
            bail!("its head has changed since it was recorded: record it again");
        }
        Ok(record["result"].take())
    }

    /// Writes what k6 does with it.
    pub(super) fn record(&self, version: &str, result: &Value) -> Result<()> {
        let record = json!({ "k6": version, "run": self.conditions(), "result": result });
        let mut text = serde_json::to_string_pretty(&sorted(&record))?;
        text.push('\n');
        fs::write(self.record_path(), text).with_context(|| format!("cannot write {}", self.record_path().display()))
    }

    fn record_path(&self) -> PathBuf {
        self.path.with_extension("k6.json")
    }

    /// How it is run; part of the record.
    fn conditions(&self) -> Value {
        let mut run = json!({ "flags": self.flags, "env": self.env });
        if self.is_stdin {
            run["stdin"] = true.into();
        }
        if self.is_resolver {
            run["resolver"] = true.into();
        }
        if let Some(text) = &self.interrupt {
            run["interrupt"] = text.as_str().into();
        }
        for (key, list) in
            [("out", &self.out), ("keep", &self.keep), ("varies", &self.varies), ("written", &self.written)]
        {
            if !list.is_empty() {
                run[key] = list.as_slice().into();
            }
        }
        run
    }
}

/// All scripts, sorted by name.
///
/// # Errors
/// When a folder cannot be read, a head makes no sense, or a record has no script.
pub(super) fn all(folder: &Path) -> Result<Vec<Script>> {
    let mut scripts = Vec::new();
    let mut records = Vec::new();
    for area in entries(folder)?.into_iter().filter(|path| path.is_dir() && !path.ends_with(FILES)) {
        for path in entries(&area)? {
            let file = name_of(&path);
            let stem = format!("{}/{}", name_of(&area), file.split('.').next().unwrap_or_default());
            if file.ends_with(".k6.json") {
                records.push(stem);
            } else if file.ends_with(".js") || file.ends_with(".ts") {
                let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
                scripts.push(Script::parse(&stem, &path, &text)?);
            } else {
                bail!("{}: neither a script nor a record", path.display());
            }
        }
    }
    if let Some(name) = records.iter().find(|name| !scripts.iter().any(|script| script.name == **name)) {
        bail!("{name}.k6.json has no script");
    }
    Ok(scripts)
}

/// What a folder holds, sorted.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = || -> std::io::Result<Vec<PathBuf>> { fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect() };
    let mut paths = read().with_context(|| format!("cannot read {}", folder.display()))?;
    paths.sort();
    Ok(paths)
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn rest(line: &str) -> &str {
    line.split_once(':').map_or("", |(_, rest)| rest.trim())
}

/// Splits words at spaces; what stands in single quotes is one word, or part of one.
fn split(text: &str) -> Result<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut is_quoted = false;
    for c in text.chars() {
        match c {
            '\'' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            c if c.is_whitespace() && !is_quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    if is_quoted {
        bail!("`{text}`: a quote is not closed");
    }
    words.extend(word);
    Ok(words)
}

/// The folder of files that scripts share.
pub(super) const FILES: &str = "files";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read() {
        let text = "// A topic: in\n// two lines.\n// flags: --tag 'a=b c' -i 2\n// env: K6_VUS=2 A='x y'\n\
                    // files: a.json .config/k6/config.json=b.json\n// out: json csv\n// stdin\n// interrupt: now\nlet x;\n// flags: no";
        let script = Script::parse("a/b", Path::new("a/b.js"), text).unwrap();
        assert_eq!(script.topic, "A topic: in two lines.");
        assert_eq!(script.flags, ["--tag", "a=b c", "-i", "2"]);
        assert_eq!((script.env["K6_VUS"].as_str(), script.env["A"].as_str()), ("2", "x y"));
        assert_eq!(script.files[0], ("a.json".to_owned(), "a.json".to_owned()));
        assert_eq!(script.files[1], (".config/k6/config.json".to_owned(), "b.json".to_owned()));
        assert!(script.is_stdin && script.interrupt.as_deref() == Some("now"));
        for wrong in ["let x;", "// x\n// out: xml", "// x\n// flags: 'a", "// x\n// env: a"] {
            assert!(Script::parse("a/b", Path::new("a/b.js"), wrong).is_err(), "{wrong}");
        }
    }
}
