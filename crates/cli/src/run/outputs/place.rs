//! Where in the script something stands, so that what failed is shown beside the line that asked for it.

use std::{collections::BTreeMap, fs::File, io::Read as _, path::Path};

use super::output::Finished;

/// A script that is looked into.
pub(super) struct Place {
    /// Its path in the repository, or else as it was given.
    pub(super) file: String,
    text: String,
}

/// As much of a script is looked at.
const SCRIPT_BYTES_MAX: u64 = 1 << 20;

impl Place {
    /// The script of a run; nothing is found in one that is no file of text.
    pub(super) fn of(finished: &Finished<'_>) -> Self {
        let script = &finished.args.script;
        let mut text = Vec::new();
        // Archives and what came from elsewhere have no line here, and a pipe is read already: to open it again would wait for ever.
        let is_file = script.source.is_none()
            && script.archive.is_none()
            && std::fs::metadata(&script.file).is_ok_and(|about| about.is_file());
        if let Some(file) = is_file.then(|| File::open(&script.file).ok()).flatten() {
            // What could not be read has no lines.
            let _ = file.take(SCRIPT_BYTES_MAX).read_to_end(&mut text);
        }
        let file = if is_file { in_repository(&script.file, &finished.cx.flags.env) } else { script.file.clone() };
        Self { file, text: String::from_utf8(text).unwrap_or_default() }
    }

    /// A script with this text.
    #[cfg(test)]
    pub(super) fn of_text(file: &str, text: &str) -> Self {
        Self { file: file.to_owned(), text: text.to_owned() }
    }

    /// The first line that has this in quotes, from 1 on.
    pub(super) fn line(&self, text: &str) -> Option<usize> {
        let is_quoted = |line: &str| {
            line.match_indices(text).any(|(at, _)| {
                let before = line[..at].chars().next_back();
                let after = line[at + text.len()..].chars().next();
                before.is_some_and(|sign| ['\'', '"', '`'].contains(&sign)) && before == after
            })
        };
        let line = self.text.lines().position(|line| !text.is_empty() && is_quoted(line))?;
        Some(line + 1)
    }
}

/// A path from the folder of the repository on, which is how GitHub and GitLab call files: their jobs say where it is, and elsewhere it
/// is the nearest one with a `.git`.
fn in_repository(file: &str, env: &BTreeMap<String, String>) -> String {
    let Ok(path) = Path::new(file).canonicalize() else { return file.to_owned() };
    let told = ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"].into_iter().filter_map(|name| env.get(name));
    let told = told.filter_map(|folder| Path::new(folder).canonicalize().ok());
    let above = path.ancestors().skip(1).find(|folder| folder.join(".git").exists()).map(Path::to_owned);
    let inside = told.chain(above).find_map(|folder| Some(path.strip_prefix(folder).ok()?.to_str()?.to_owned()));
    inside.unwrap_or_else(|| file.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_called_as_in_its_repository() {
        let folder = tempfile::tempdir().expect("a folder");
        let load = folder.path().join("load");
        std::fs::create_dir(&load).expect("a folder");
        let file = load.join("test.js").display().to_string();
        std::fs::write(&file, "").expect("a file");
        let known = |name: &str, folder: &Path| BTreeMap::from([(name.to_owned(), folder.display().to_string())]);
        // Nobody says anything, or something else.
        assert_eq!(in_repository(&file, &BTreeMap::new()), file);
        assert_eq!(in_repository(&file, &known("GITHUB_WORKSPACE", Path::new("/nowhere"))), file);
        assert_eq!(in_repository("missing.js", &known("GITHUB_WORKSPACE", folder.path())), "missing.js");
        assert_eq!(in_repository(&file, &known("GITHUB_WORKSPACE", folder.path())), "load/test.js");
        assert_eq!(in_repository(&file, &known("CI_PROJECT_DIR", &load)), "test.js");
        std::fs::create_dir(folder.path().join(".git")).expect("a folder");
        assert_eq!(in_repository(&file, &BTreeMap::new()), "load/test.js");
        let roundabout = load.join("../load/test.js").display().to_string();
        assert_eq!(in_repository(&roundabout, &BTreeMap::new()), "load/test.js");
    }

    #[test]
    fn lines() {
        let text = "const p = 1;\n// is ok\ncheck(r, { 'is ok': f, \"it's\": g })\n";
        let place = Place::of_text("s.js", text);
        let check = |text: &str, expect: Option<usize>| assert_eq!(place.line(text), expect, "{text}");
        check("is ok", Some(3));
        check("it's", Some(3));
        check("p", None);
        check("", None);
        check("missing", None);
    }
}
