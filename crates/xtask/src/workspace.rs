//! The workspace as data: its root, its files, its packages.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// The workspace's root folder: the one cargo names where it runs us, else the one we are started in, else the one we
/// were built in. A program that two clones share looks at the right one that way, and labels results with its commit.
pub fn root() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let named = manifest.as_deref().and_then(|path| path.ancestors().nth(2)).map(Path::to_path_buf);
    named
        .or_else(|| std::env::current_dir().ok().and_then(|folder| enclosing(&folder)))
        .or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).map(Path::to_path_buf))
        .unwrap_or_default()
}

/// The workspace a folder is in, if it is in one.
fn enclosing(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find(|root| root.join(MANIFEST).is_file()).map(Path::to_path_buf)
}

/// What only a clone of this workspace has.
const MANIFEST: &str = "crates/xtask/Cargo.toml";

/// A cargo command in the workspace.
pub fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

/// What `cargo metadata` says about our own packages (`is_deep`: about all), without touching the network.
///
/// # Errors
/// When cargo fails, for example because packages have not been downloaded.
pub fn metadata(root: &Path, is_deep: bool) -> Result<Value> {
    let mut command = cargo(root);
    command.args(["metadata", "--format-version=1"]).args(OFFLINE);
    if is_deep {
        command.args(["--filter-platform", &host(root)?]);
    } else {
        command.arg("--no-deps");
    }
    Ok(serde_json::from_str(&stdout(&mut command)?)?)
}

/// All pairs (package, package it uses) of what is built here, tests included, by name.
///
/// From `cargo tree`: `cargo metadata` also lists optional packages that no feature turns on.
///
/// # Errors
/// When cargo fails.
pub fn edges(root: &Path) -> Result<Vec<(String, String)>> {
    let mut command = cargo(root);
    command.args(["tree", "--workspace", "--edges=normal,build,dev", "--prefix=depth", "--format= {p}"]).args(OFFLINE);
    Ok(parse_tree(&stdout(&mut command)?))
}

/// Reads lines such as `2 bytes v1.2.3 (*)`.
fn parse_tree(text: &str) -> Vec<(String, String)> {
    let mut edges = Vec::new();
    // The package last seen at each depth.
    let mut path: Vec<&str> = Vec::new();
    for line in text.lines() {
        let Some((depth, rest)) = line.split_once(' ') else { continue };
        let (Ok(depth), Some(name)) = (depth.parse::<usize>(), rest.split(' ').next()) else { continue };
        path.truncate(depth);
        if let Some(parent) = path.last() {
            edges.push(((*parent).to_owned(), name.to_owned()));
        }
        path.push(name);
    }
    edges.sort();
    edges.dedup();
    edges
}

/// Runs a command for what it prints.
fn stdout(command: &mut Command) -> Result<String> {
    let output = command.output().context("cannot run cargo")?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// What keeps cargo from the network and from changing the lock file.
const OFFLINE: [&str; 2] = ["--locked", "--offline"];

/// Where cargo puts what it builds.
///
/// # Errors
/// When cargo fails.
pub fn target_dir(root: &Path) -> Result<PathBuf> {
    let metadata = metadata(root, false)?;
    let path = metadata["target_directory"].as_str().context("cargo metadata names no target directory")?;
    Ok(PathBuf::from(path))
}

/// The platform we run on, as cargo calls it.
fn host(root: &Path) -> Result<String> {
    let text = stdout(cargo(root).args(["--version", "--verbose"]))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: ")).context("cargo does not say its host")?;
    Ok(host.to_owned())
}

/// A text file of the repository.
#[derive(Debug, Clone)]
pub struct File {
    /// Relative to the root, with `/`.
    pub path: String,
    /// Its contents.
    pub text: String,
}

impl File {
    /// The folder name of the crate it belongs to, if any: `net` for `crates/net/src/lib.rs`.
    pub fn crate_name(&self) -> Option<&str> {
        self.path.strip_prefix("crates/")?.split('/').next()
    }

    /// Whether it is Rust source.
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }
}

/// All text files of the repository, sorted by path. Files that are not UTF-8 are left out.
///
/// # Errors
/// When a folder cannot be read.
pub fn files(root: &Path) -> io::Result<Vec<File>> {
    let mut found = Vec::new();
    walk(root, root, &mut found)?;
    found.sort_by(|a: &File, b| a.path.cmp(&b.path));
    Ok(found)
}

fn walk(root: &Path, folder: &Path, found: &mut Vec<File>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if !SKIPPED.contains(&&*name) {
                walk(root, &path, found)?;
            }
        } else if kind.is_file() && entry.metadata()?.len() <= FILE_BYTES_MAX {
            // Others may create and delete files meanwhile.
            let Ok(bytes) = fs::read(&path) else { continue };
            let Ok(text) = String::from_utf8(bytes) else { continue };
            let path = path.strip_prefix(root).unwrap_or(&path);
            found.push(File { path: path.to_string_lossy().replace('\\', "/"), text });
        }
    }
    Ok(())
}

/// Folders that hold nothing of ours: build output, version control, packages, raw results and fuzz inputs.
const SKIPPED: &[&str] = &["target", "dist", ".git", "node_modules", "runs", "corpus", "artifacts"];

/// Larger files are data, not text anyone reads.
const FILE_BYTES_MAX: u64 = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_the_workspace_a_folder_is_in() {
        let built = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = built.ancestors().nth(2).map(Path::to_path_buf);
        assert_eq!(enclosing(&built.join("src/bench")), root);
        assert_eq!(enclosing(Path::new("/")), None);
    }

    #[test]
    fn reads_a_tree() {
        let edges = parse_tree("0 a v1.0 (path)\n1 b v1.0\n2 c v1.0\n1 c v1.0 (*)\n\n0 b v1.0 (*)\n");
        let edges: Vec<_> = edges.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
        assert_eq!(edges, [("a", "b"), ("a", "c"), ("b", "c")]);
    }
}
