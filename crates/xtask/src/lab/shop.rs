//! Where tools come from: package registries, each asked by its ordinary client, into one folder per tool and version
//! outside the clone. What is there already is not installed again.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};
use xtask::{
    packages::{find, packaged},
    workspace,
};

use super::adapter::Program;
use crate::bench::tool;

/// The ways to get a tool.
#[derive(Debug)]
pub(crate) struct Shop {
    folder: PathBuf,
    /// The program that is measured beside the others, and whose target they are measured with.
    pub(crate) onrush: PathBuf,
    /// Of this machine: what tools that want a number of threads are given.
    pub(crate) cpus: usize,
}

impl Shop {
    pub(crate) fn open(folder: Option<PathBuf>, onrush: PathBuf, cpus: usize) -> Result<Self> {
        let folder = match folder {
            Some(folder) => folder,
            None => cache()?.join("onrush").join("lab"),
        };
        let tools = folder.join("tools");
        fs::create_dir_all(&tools).with_context(|| format!("cannot make {}", tools.display()))?;
        Ok(Self { folder: tools.canonicalize().context("the folder of the tools is gone")?, onrush, cpus })
    }

    /// A program of a Debian package.
    pub(crate) fn debian(&self, name: &str, package: &str, version_flag: &str) -> Result<Program> {
        let path = packaged(name, package, "the lab measures it")?;
        let version = tool::version(&path, version_flag);
        Ok(Program { path, version, installed_by: format!("apt-get install --no-install-recommends {package}") })
    }

    /// A program in PATH only, where no registry has it.
    pub(crate) fn only_in_path(&self, name: &str, version_flag: &str, why: &str) -> Result<Program> {
        let Some(path) = find(name) else { bail!("{why}") };
        let version = tool::version(&path, version_flag);
        Ok(Program { path, version, installed_by: format!("(found as {name} in PATH)") })
    }

    /// A program written in Go.
    pub(crate) fn go(&self, name: &str, module: &str, version: &str) -> Result<Program> {
        let folder = self.place(name, version);
        let path = folder.join(name);
        let mut command = Command::new(find("go").context("Go is missing: install it from your distribution")?);
        command.args(["install", &format!("{module}@{version}")]).env("GOBIN", &folder);
        self.make(&path, &folder, vec![command])?;
        Ok(Program { path, version: version.to_owned(), installed_by: format!("go install {module}@{version}") })
    }

    /// A program written in Rust.
    pub(crate) fn cargo(&self, package: &str, version: &str, name: &str) -> Result<Program> {
        let folder = self.place(name, version);
        let path = folder.join("bin").join(name);
        let mut command = workspace::cargo(Path::new("/"));
        command.args(["install", "--locked", package, "--version", version, "--root"]).arg(&folder);
        // What several tools need is built once.
        command.arg("--target-dir").arg(self.folder.join("../build/cargo"));
        self.make(&path, &folder, vec![command])?;
        let installed_by = format!("cargo install --locked {package} --version {version}");
        Ok(Program { path, version: version.to_owned(), installed_by })
    }

    /// A package of npm; `script` is what node runs.
    pub(crate) fn npm(&self, package: &str, version: &str, script: &str) -> Result<Program> {
        let folder = self.place(package, version);
        let path = folder.join("node_modules").join(script);
        let mut command = Command::new(find("npm").context("npm is missing: install nodejs and npm")?);
        command.args(["install", "--silent", "--no-fund", "--no-audit", "--prefix"]).arg(&folder);
        command.arg(format!("{package}@{version}"));
        // Artillery would download a browser that it is not used with here.
        command.env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1");
        self.make(&path, &folder, vec![command])?;
        Ok(Program { path, version: version.to_owned(), installed_by: format!("npm install {package}@{version}") })
    }

    /// A package of PyPI, in an environment of its own.
    pub(crate) fn pip(&self, package: &str, version: &str) -> Result<Program> {
        let folder = self.place(package, version);
        let path = folder.join("bin").join(package);
        let mut environment = Command::new(find("python3").context("python3 is missing")?);
        environment.args(["-m", "venv"]).arg(&folder);
        let mut install = Command::new(folder.join("bin/pip"));
        install.args(["install", "--quiet", &format!("{package}=={version}")]);
        self.make(&path, &folder, vec![environment, install])?;
        Ok(Program { path, version: version.to_owned(), installed_by: format!("pip install {package}=={version}") })
    }

    /// Jars of Maven and all they need, below `lib` of the folder that is returned as the path.
    pub(crate) fn maven(&self, name: &str, version: &str, artifacts: &[Artifact]) -> Result<Program> {
        let folder = self.place(name, version);
        let mut command = Command::new(find("mvn").context("mvn is missing: install maven and a JDK")?);
        let lib = folder.join("lib");
        command.args(["--batch-mode", "--quiet", "dependency:copy-dependencies"]);
        command.arg(format!("-DoutputDirectory={}", lib.display())).current_dir(&folder);
        let done = folder.join("installed");
        if !done.is_file() {
            fs::create_dir_all(&lib).with_context(|| format!("cannot make {}", lib.display()))?;
            fs::write(folder.join("pom.xml"), pom(artifacts)).context("cannot write a pom.xml")?;
            log(&folder, vec![command])?;
            fs::write(&done, "").context("cannot note that a tool is installed")?;
        }
        let names: Vec<String> =
            artifacts.iter().map(|one| format!("{}:{}:{}", one.group, one.name, one.version)).collect();
        let installed_by = format!("mvn dependency:copy-dependencies of {}", names.join(", "));
        Ok(Program { path: folder, version: version.to_owned(), installed_by })
    }

    /// A program that is built from files the lab brings along.
    pub(crate) fn built(
        &self,
        name: &str,
        version: &str,
        files: &[(&str, &str)],
        path: &str,
        command: Command,
    ) -> Result<Program> {
        let folder = self.place(name, version);
        for (file, text) in files {
            let at = folder.join(file);
            if let Some(parent) = at.parent() {
                fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
            }
            if fs::read_to_string(&at).is_ok_and(|there| there == *text) {
                continue;
            }
            fs::write(&at, text).with_context(|| format!("cannot write {}", at.display()))?;
            // Built from an earlier text.
            let _ = fs::remove_file(folder.join(path));
        }
        let mut command = command;
        command.current_dir(&folder);
        let shown = show(&command);
        self.make(&folder.join(path), &folder, vec![command])?;
        Ok(Program { path: folder.join(path), version: version.to_owned(), installed_by: shown })
    }

    /// Where a tool of that version is or will be.
    pub(crate) fn place(&self, name: &str, version: &str) -> PathBuf {
        self.folder.join(format!("{name}-{version}"))
    }

    /// What several tools are built in.
    pub(crate) fn build_folder(&self) -> PathBuf {
        self.folder.join("../build/cargo")
    }

    /// Runs the commands, unless what they make is there.
    fn make(&self, path: &Path, folder: &Path, commands: Vec<Command>) -> Result<()> {
        if path.exists() {
            return Ok(());
        }
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        log(folder, commands)?;
        if !path.exists() {
            bail!("installed, but there is no {}", path.display());
        }
        Ok(())
    }
}

/// A package of Maven.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Artifact {
    pub(crate) group: &'static str,
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    /// What it would bring along and cannot be had: group and name.
    pub(crate) without: Option<(&'static str, &'static str)>,
}

fn pom(artifacts: &[Artifact]) -> String {
    let dependencies: String = artifacts
        .iter()
        .map(|one| {
            let without = one.without.map_or_else(String::new, |(group, name)| {
                format!("<exclusions><exclusion><groupId>{group}</groupId><artifactId>{name}</artifactId></exclusion></exclusions>")
            });
            format!(
                "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>{without}</dependency>\n",
                one.group, one.name, one.version
            )
        })
        .collect();
    format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>\
         <groupId>lab</groupId><artifactId>lab</artifactId><version>1</version><packaging>pom</packaging>\n\
         <dependencies>\n{dependencies}</dependencies></project>\n"
    )
}

/// Runs commands to their end, what they print goes to `install.log`; its end is the error if one fails.
fn log(folder: &Path, commands: Vec<Command>) -> Result<()> {
    let file = folder.join("install.log");
    for mut command in commands {
        eprintln!("  installing into {}: {}", folder.display(), show(&command));
        let out = File::create(&file).with_context(|| format!("cannot write {}", file.display()))?;
        let copy = out.try_clone().context("cannot share a log")?;
        let status = command.stdin(Stdio::null()).stdout(out).stderr(copy).status();
        let status = status.with_context(|| format!("cannot run {}", show(&command)))?;
        if !status.success() {
            let text = fs::read_to_string(&file).unwrap_or_default();
            let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
            let end = lines[lines.len().saturating_sub(ERROR_LINES)..].join(" / ");
            bail!("`{}` failed: {end}", show(&command));
        }
    }
    Ok(())
}

/// A command as a shell takes it.
pub(crate) fn show(command: &Command) -> String {
    let variables = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={}", name.to_string_lossy(), quote(&value?.to_string_lossy()))));
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words = words.map(|word| quote(&word.to_string_lossy()));
    variables.chain(words).collect::<Vec<_>>().join(" ")
}

fn quote(word: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "-_./:=,@%+".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        // Results are read on other machines.
        match std::env::home_dir().as_deref().and_then(Path::to_str) {
            Some(home) if home.len() > 1 => word.replace(home, "$HOME"),
            _ => word.to_owned(),
        }
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

fn cache() -> Result<PathBuf> {
    let home = std::env::home_dir().map(|home| home.join(".cache"));
    let folder = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or(home);
    folder.context("there is no home folder: say where tools go with --tools")
}

/// How much of a failed installation is kept as the reason.
const ERROR_LINES: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_can_be_pasted() {
        let mut command = Command::new("/usr/bin/wrk");
        command.args(["-c20", "http://127.0.0.1:1/f/100?a=b&c", "it's"]).env("GOBIN", "/a b");
        let home = std::env::home_dir().unwrap();
        assert_eq!(show(&Command::new(home.join("tools/wrk"))), "$HOME/tools/wrk");
        assert_eq!(show(&command), "GOBIN='/a b' /usr/bin/wrk -c20 'http://127.0.0.1:1/f/100?a=b&c' 'it'\\''s'");
    }

    #[test]
    fn a_failed_installation_says_why() {
        let folder = tempfile::TempDir::new().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo looking; echo 'not found: 404' >&2; exit 1"]);
        let error = log(folder.path(), vec![command]).unwrap_err().to_string();
        assert!(error.ends_with("failed: looking / not found: 404"), "{error}");
    }

    #[test]
    fn exclusions_are_in_the_pom() {
        let one = Artifact { group: "g", name: "n", version: "1", without: Some(("h", "m")) };
        assert!(pom(&[one]).contains("<exclusion><groupId>h</groupId><artifactId>m</artifactId></exclusion>"));
    }
}
