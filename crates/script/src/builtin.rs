//! The `k6` and `k6/...` names: which exist in k6, and what is said about those that Onrush cannot give.
//!
//! Which built-in modules *this* build has is told by the caller ([`crate::LoadOptions::builtins`]).

use crate::specifier::Unresolved;

/// Whether a specifier names a built-in module (existing or not).
pub(crate) fn is_builtin_name(request: &str) -> bool {
    request == "k6" || request.starts_with("k6/")
}

/// Why a built-in name that is not among `available` cannot be imported.
pub(crate) fn missing(request: &str, available: &[&str]) -> Unresolved {
    if let Some((_, text)) = REMOVED.iter().find(|(name, _)| *name == request) {
        return Unresolved::new(*text, "");
    }
    if EXISTING.contains(&request) {
        let text = format!("{request} is not available in this version of Onrush");
        // No package has a browser.
        if request == "k6/browser" {
            return Unresolved::new(text, "run this script with k6");
        }
        let hint = format!(
            "bundle a JavaScript package that does the same with the script, or run it with k6; available are {}",
            available.join(", ")
        );
        return Unresolved::new(text, hint);
    }
    // k6: the text k6 prints when automatic extension resolution is off.
    let text = format!(
        "unknown modules [{request:?}] were tried to be loaded, but couldn't - this likely means automatic extension \
         resolution is required or a custom k6 binary with the required extensions"
    );
    if request == "k6/x/kafka" {
        return Unresolved::new(text, "this build of Onrush has no Kafka: build it with the feature `kafka`");
    }
    if request.starts_with("k6/x/") {
        let here: Vec<&str> = available.iter().copied().filter(|name| name.starts_with("k6/x/")).collect();
        return Unresolved::new(
            text,
            format!(
                "k6/x/ modules are k6 extensions written in Go, which Onrush cannot load; built in are {}; an extension \
                 of your own is a WebAssembly module that the script imports as a file",
                if here.is_empty() { "none".to_owned() } else { here.join(", ") }
            ),
        );
    }
    let hint = closest(request, available).map(|name| format!("did you mean {name:?}?")).unwrap_or_default();
    Unresolved::new(text, hint)
}

/// The most similar available name, if it differs by at most two edits.
fn closest<'a>(request: &str, available: &[&'a str]) -> Option<&'a str> {
    if request.len() > NAME_LEN_MAX {
        return None;
    }
    available
        .iter()
        .map(|name| (edit_distance(request, name), *name))
        .filter(|(distance, _)| *distance <= 2)
        .min()
        .map(|(_, name)| name)
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substitute = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// Longest name compared for suggestions.
const NAME_LEN_MAX: usize = 64;

/// Every module of k6 2.x.
const EXISTING: &[&str] = &[
    "k6",
    "k6/browser",
    "k6/crypto",
    "k6/crypto/x509",
    "k6/data",
    "k6/encoding",
    "k6/execution",
    "k6/experimental/csv",
    "k6/experimental/fs",
    "k6/experimental/streams",
    "k6/experimental/websockets",
    "k6/html",
    "k6/http",
    "k6/metrics",
    "k6/net/grpc",
    "k6/secrets",
    "k6/timers",
    "k6/websockets",
    "k6/ws",
];

/// k6: modules that k6 itself removed, with k6's texts.
const REMOVED: &[(&str, &str)] = &[
    (
        "k6/experimental/browser",
        "k6/experimental/browser has been graduated, please use k6/browser instead.Please update your imports to use \
         k6/browser instead of k6/experimental/browser, For more information, see the migration guide at the link: \
         https://grafana.com/docs/k6/latest/using-k6-browser/migrating-to-k6-v0-52/",
    ),
    (
        "k6/experimental/grpc",
        "k6/experimental/grpc has been graduated, please use k6/net/grpc instead. See \
         https://grafana.com/docs/k6/latest/javascript-api/k6-net-grpc/ for more information.",
    ),
    (
        "k6/experimental/redis",
        "k6/experimental/redis has been removed. Please migrate to the new version by changing your import to \
         'k6/x/redis'. Read more here: https://grafana.com/docs/k6/latest/javascript-api/k6-x-redis",
    ),
    (
        "k6/experimental/timers",
        "k6/experimental/timers has been graduated, and it's now globally available as defined by standard WebAPIs. \
         You just need to remove the import.",
    ),
    (
        "k6/experimental/tracing",
        "k6/experimental/tracing has been removed. All of it functionality is available as pure JavaScript module. \
         More info available at the docs: \
         https://grafana.com/docs/k6/latest/javascript-api/jslib/http-instrumentation-tempo",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(request: &str, message: &str, hint: &str) {
        let unresolved = missing(request, &["k6", "k6/http", "k6/metrics"]);
        assert!(unresolved.message.contains(message), "{}", unresolved.message);
        assert!(unresolved.hint.contains(hint), "{}", unresolved.hint);
        assert_eq!(hint.is_empty(), unresolved.hint.is_empty());
    }

    #[test]
    fn says_what_is_missing_and_what_to_use() {
        check("k6/html", "k6/html is not available in this version of Onrush", "k6, k6/http, k6/metrics");
        check("k6/browser", "k6/browser is not available in this version of Onrush", "run this script with k6");
        check("k6/experimental/grpc", "please use k6/net/grpc instead", "");
        check("k6/experimental/redis", "'k6/x/redis'", "");
        check("k6/x/foo", "unknown modules [\"k6/x/foo\"]", "extensions written in Go");
        check("k6/x/kafka", "unknown modules [\"k6/x/kafka\"]", "build it with the feature `kafka`");
        check("k6/htpp", "unknown modules [\"k6/htpp\"]", "did you mean \"k6/http\"?");
        check("k6/options", "unknown modules [\"k6/options\"]", "");
    }
}
