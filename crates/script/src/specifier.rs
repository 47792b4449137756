//! From what a script writes in `import` or `require()` to a file or a built-in module.
//!
//! k6's rules: no extension guessing, no `index.js`, no `node_modules`. Paths are normalised lexically (symbolic links
//! are not followed), so a file has as many identities as it has paths. Nothing is read here; see [`crate::graph`].

use std::path::{Component, Path, PathBuf};

use url::Url;

use crate::builtin;

/// What a request stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    /// A built-in module, such as `k6/http`.
    Builtin(String),
    /// A file. Whether it exists is not known yet.
    File {
        /// Absolute, normalised.
        path: PathBuf,
        /// `file:///...`, percent-encoded: the module's name in the engine and in stack traces.
        specifier: String,
    },
    /// A module on a server.
    Remote {
        /// `https://...`
        specifier: String,
    },
}

/// Where the relative requests of a module start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Base {
    /// A folder.
    Folder(PathBuf),
    /// The module's own URL.
    Remote(Url),
}

/// Why a request stands for nothing Onrush can load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unresolved {
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl Unresolved {
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }
}

/// The specifier of a script that came from standard input.
pub(crate) const STDIN: &str = "file:///-";

/// Among the built-in modules: every k6 extension. For who only wants to know what a script needs.
pub const EXTENSIONS: &str = "k6/x/*";

/// Resolves `request` as written in a module with this base.
pub(crate) fn resolve(base: &Base, request: &str, builtins: &[&str]) -> Result<Resolved, Unresolved> {
    if request.is_empty() {
        // k6: its text.
        return Err(Unresolved::new("local or remote path required", ""));
    }
    if builtin::is_builtin_name(request) {
        let is_extension = request.starts_with("k6/x/") && builtins.contains(&EXTENSIONS);
        return if is_extension || builtins.contains(&request) {
            Ok(Resolved::Builtin(request.to_owned()))
        } else {
            Err(builtin::missing(request, builtins))
        };
    }
    if let Some(path) = request.strip_prefix("file:") {
        if let Base::Remote(url) = base {
            // k6: its text, with the folder for the origin.
            let origin = url.join(".").unwrap_or_else(|_| url.clone());
            return Err(Unresolved::new(format!("origin ({origin}) not allowed to load local file: {request}"), ""));
        }
        let path = path.strip_prefix("//").unwrap_or(path);
        return if path.starts_with('/') { file(base, request, path) } else { Err(not_found(request)) };
    }
    if request.starts_with(['.', '/']) || Path::new(request).is_absolute() {
        return file(base, request, request);
    }
    // Go's schemes have no case.
    if request.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("https://")) {
        let url = Url::parse(request).map_err(|error| Unresolved::new(format!("parse {request:?}: {error}"), ""))?;
        return Ok(Resolved::Remote { specifier: url.into() });
    }
    if let Some(scheme) = scheme(request) {
        // k6: its text.
        return Err(Unresolved::new(
            format!("only supported schemes for imports are file and https, {request} has `{scheme}`"),
            "",
        ));
    }
    Err(unrecognised(request))
}

/// k6: the text for a file that does not exist, up to what it says of its Docker image.
pub(crate) fn not_found(request: &str) -> Unresolved {
    let mut unresolved = Unresolved::new(
        format!(
            "The moduleSpecifier {request:?} couldn't be found on local disk. Make sure that you've specified the right \
             path to the file. If you're running Onrush in a container, make sure that the folder with your script and \
             its modules is mounted there (docker run -v \"$PWD:/scripts\")."
        ),
        "",
    );
    let name = request.rsplit('/').next().unwrap_or(request);
    if request.starts_with('.') && !name.contains('.') {
        "file names are used as written: neither an extension nor index.js is added".clone_into(&mut unresolved.hint);
    }
    unresolved
}

/// The `file:///` URL of an absolute path; `None` for others.
#[must_use]
pub fn url_of_path(path: &Path) -> Option<String> {
    Url::from_file_path(path).ok().map(String::from)
}

/// The path of a `file://` URL, escapes decoded.
#[must_use]
pub fn path_of_url(url: &str) -> Option<PathBuf> {
    Url::parse(url).ok()?.to_file_path().ok()
}

/// Makes `path` absolute under `base` and removes `.` and `..` without looking at the disk.
#[must_use]
pub fn normalise(base: &Path, path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in base.join(path).components() {
        match component {
            Component::CurDir => {}
            // At the root, `..` stays at the root: `pop` does nothing there.
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

fn file(base: &Base, request: &str, path: &str) -> Result<Resolved, Unresolved> {
    let folder = match base {
        Base::Folder(folder) => folder,
        Base::Remote(url) => {
            let url = url.join(path).map_err(|error| Unresolved::new(format!("parse {request:?}: {error}"), ""))?;
            return Ok(Resolved::Remote { specifier: url.into() });
        }
    };
    let path = normalise(folder, &percent_decode(request, path)?);
    let specifier = url_of_path(&path).ok_or_else(|| not_found(request))?;
    Ok(Resolved::File { path, specifier })
}

/// The scheme of `scheme://...`.
fn scheme(request: &str) -> Option<&str> {
    let (scheme, _) = request.split_once("://")?;
    let mut chars = scheme.chars();
    let ok = chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    ok.then_some(scheme)
}

/// k6: its texts for names without `./`, a scheme or `k6/` in front.
fn unrecognised(request: &str) -> Unresolved {
    if request.starts_with("cdnjs.com/") {
        return Unresolved::new(
            "cdnjs.com 'special' urls are no longer supported - please use real ones. You can get yours by going to \
             cdnjs and copy-pasting the full url to the actual JavaScript file",
            "",
        );
    }
    if request.starts_with("github.com/") {
        return Unresolved::new(
            "github.com 'special' urls are no longer supported - please use real ones. You can get yours by going to \
             github and copy-pasting the full url to the actual raw JavaScript file",
            "",
        );
    }
    let hint = if request.starts_with("node:") {
        "scripts do not run on Node.js: its modules do not exist here".to_owned()
    } else if has_script_extension(request) {
        format!("a file next to the script is imported as \"./{request}\"")
    } else {
        "npm packages have to be bundled into the script (webpack, rollup, esbuild)".to_owned()
    };
    Unresolved::new(format!("The moduleSpecifier {request:?} couldn't be recognised as something k6 supports."), hint)
}

fn has_script_extension(request: &str) -> bool {
    Path::new(request).extension().is_some_and(|e| ["js", "ts", "mjs", "cjs"].iter().any(|s| e == *s))
}

/// k6: relative and absolute paths are URL paths, so `%20` is a space and a lone `%` is an error.
fn percent_decode(request: &str, path: &str) -> Result<PathBuf, Unresolved> {
    if !path.contains('%') {
        return Ok(PathBuf::from(path));
    }
    let bytes = path.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'%' {
            out.push(bytes[at]);
            at += 1;
            continue;
        }
        let digits = bytes.get(at + 1..at + 3).and_then(|d| Some(hex(d[0])? << 4 | hex(d[1])?));
        let Some(byte) = digits else {
            let escape = String::from_utf8_lossy(&bytes[at..bytes.len().min(at + 3)]).into_owned();
            return Err(Unresolved::new(
                format!("parse {request:?}: invalid URL escape {escape:?}"),
                "a percent sign in a file name is written %25",
            ));
        };
        out.push(byte);
        at += 3;
    }
    Ok(bytes_to_path(out))
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|d| u8::try_from(d).ok())
}

#[cfg(unix)]
fn bytes_to_path(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

#[cfg(not(unix))]
fn bytes_to_path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    const BUILTINS: &[&str] = &["k6", "k6/http"];

    #[test]
    fn dots_are_removed_by_text() {
        assert_eq!(normalise(Path::new("/"), Path::new("/a/./b/../c")), Path::new("/a/c"));
        assert_eq!(normalise(Path::new("/"), Path::new("/../a")), Path::new("/a"));
    }

    fn check(request: &str, expect: &str) {
        let got = match resolve(&Base::Folder("/home/u/tests".into()), request, BUILTINS) {
            Ok(Resolved::Builtin(name)) => name,
            Ok(Resolved::Remote { specifier }) => specifier,
            Ok(Resolved::File { specifier, path }) => {
                assert_eq!(url_of_path(&path).as_deref(), Some(specifier.as_str()));
                specifier
            }
            Err(unresolved) => unresolved.message,
        };
        if let Some(start) = expect.strip_suffix('…') {
            assert!(got.starts_with(start), "{request:?}: {got}");
        } else {
            assert_eq!(got, expect, "{request:?}");
        }
    }

    #[test]
    fn resolves_as_k6_does() {
        check("k6", "k6");
        check("k6/http", "k6/http");
        check("./a.js", "file:///home/u/tests/a.js");
        check("../a.js", "file:///home/u/a.js");
        check("../../../../../a.js", "file:///a.js");
        check("./x/./../y//a.js", "file:///home/u/tests/y/a.js");
        check("/abs/a.ts", "file:///abs/a.ts");
        check("file:///abs/../b.js", "file:///b.js");
        check("file:///abs/a%20b.js", "file:///abs/a%20b.js");
        check("./a b.js", "file:///home/u/tests/a%20b.js");
        check("./a%20b.js", "file:///home/u/tests/a%20b.js");
        check("./é.js", "file:///home/u/tests/%C3%A9.js");
        check("./a%25.js", "file:///home/u/tests/a%25.js");
        check("./a.js?x=1", "file:///home/u/tests/a.js%3Fx=1");
        check("./a%.js", "parse \"./a%.js\": invalid URL escape \"%.j\"");
        check("./a%", "parse \"./a%\": invalid URL escape \"%\"");
        check("", "local or remote path required");
        check("file://./a.js", "The moduleSpecifier \"file://./a.js\" couldn't be found on local disk.…");
        check("http://h/a.js", "only supported schemes for imports are file and https, http://h/a.js has `http`");
        check("ftp://h/a.js", "only supported schemes for imports are file and https, ftp://h/a.js has `ftp`");
        check("HTTPS://h/a.js", "https://h/a.js");
        check("https://jslib.k6.io/b/../a.js", "https://jslib.k6.io/a.js");
        check("https://", "parse \"https://\": empty host");
        check("lodash", "The moduleSpecifier \"lodash\" couldn't be recognised as something k6 supports.");
        check("node:fs", "The moduleSpecifier \"node:fs\" couldn't be recognised as something k6 supports.");
        check("github.com/a/b.js", "github.com 'special' urls…");
        check("cdnjs.com/a/b.js", "cdnjs.com 'special' urls…");
        check("k6/x/sql", "unknown modules [\"k6/x/sql\"]…");
    }

    #[test]
    fn remote_modules_name_their_neighbours() {
        let base = Base::Remote(Url::parse("https://h/a/b/index.js").unwrap());
        let check = |request: &str, expect: &str| match resolve(&base, request, BUILTINS) {
            Ok(Resolved::Remote { specifier }) => assert_eq!(specifier, expect),
            other => assert_eq!(other.unwrap_err().message, expect),
        };
        check("./c.js", "https://h/a/b/c.js");
        check("../c.js", "https://h/a/c.js");
        check("/c.js?v=1", "https://h/c.js?v=1");
        check("https://g/c.js", "https://g/c.js");
        check("file:///c.js", "origin (https://h/a/b/) not allowed to load local file: file:///c.js");
        assert_eq!(resolve(&base, "k6/x/sql", &["k6", EXTENSIONS]).unwrap(), Resolved::Builtin("k6/x/sql".to_owned()));
    }

    #[test]
    fn hints_help() {
        let hint = |request| resolve(&Base::Folder("/t".into()), request, BUILTINS).unwrap_err().hint;
        assert!(hint("lib.js").contains("\"./lib.js\""));
        assert!(hint("lodash").contains("bundled"));
        assert!(hint("node:fs").contains("Node.js"));
        assert!(not_found("./lib").hint.contains("extension"));
        assert!(not_found("./lib.js").hint.is_empty());
    }
}
