//! What to do about a mistake in a script: a name of k6's modules that was not imported, secrets without a source.

/// What to do about this error, where that is known.
pub(super) fn of(text: &str) -> Option<String> {
    missing_import(text).or_else(|| missing_source(text))
}

/// A flag for scripts that ask for secrets without one.
fn missing_source(text: &str) -> Option<String> {
    let is_it = text.lines().next()?.contains("no secret sources are configured");
    is_it.then(|| "tell where secrets are, such as --secret-source=file=secrets.txt".to_owned())
}

/// The import line for `ReferenceError: http is not defined` and its like.
fn missing_import(text: &str) -> Option<String> {
    let name = text.strip_prefix("ReferenceError: ")?.split_once(" is not defined")?.0;
    let (_, import) = IMPORTS.iter().find(|(names, _)| names.contains(&name))?;
    Some(format!("add to the script: {}", import.replace("NAME", name)))
}

/// Names that examples use, and the line that brings them.
const IMPORTS: [(&[&str], &str); 6] = [
    (&["http"], "import http from 'k6/http';"),
    (&["exec"], "import exec from 'k6/execution';"),
    (&["check", "sleep", "group", "fail", "randomSeed"], "import { NAME } from 'k6';"),
    (&["Counter", "Gauge", "Rate", "Trend"], "import { NAME } from 'k6/metrics';"),
    (&["SharedArray"], "import { NAME } from 'k6/data';"),
    (&["parseHTML"], "import { NAME } from 'k6/html';"),
];

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn known_names_have_a_line() {
        let check = |text: &str, expect: Option<&str>| assert_eq!(of(text).as_deref(), expect, "{text}");
        check(
            "ReferenceError: http is not defined\n\tat default (a.js:1:1)",
            Some("add to the script: import http from 'k6/http';"),
        );
        check("ReferenceError: Trend is not defined", Some("add to the script: import { Trend } from 'k6/metrics';"));
        check("ReferenceError: mine is not defined", None);
        check("TypeError: http is not defined", None);
        check("", None);
        check(
            "Uncaught (in promise) Error: no secret sources are configured\n\tat get (native)",
            Some("tell where secrets are, such as --secret-source=file=secrets.txt"),
        );
    }
}
