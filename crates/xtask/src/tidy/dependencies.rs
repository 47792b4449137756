//! Fences around third-party packages: who may use them, and which are not used at all.
//!
//! deny.toml says the same to cargo-deny, which looks at all platforms; here it is checked by every test run.

use super::{Finding, Report, graph::Crate, required};
use crate::workspace::File;

/// A package and the crates that may depend on it.
struct Fence {
    /// Its name; a trailing `*` stands for any ending.
    package: &'static str,
    /// Folders of our crates.
    ours: &'static [&'static str],
    /// Third-party packages that bring it along.
    others: &'static [&'static str],
}

const FENCES: &[Fence] = &[
    Fence { package: "oxc_*", ours: &["script"], others: &["oxc_*", "oxc-*"] },
    Fence { package: "rquickjs-sys", ours: &["quickjs"], others: &[] },
    Fence {
        package: "rustls",
        ours: &["certificates", "net", "cluster", "server", "testsite", "testkit"],
        others: &["rustls-platform-verifier", "tokio-rustls"],
    },
    Fence { package: "tokio-rustls", ours: &["cluster", "server"], others: &[] },
    Fence { package: "h2", ours: &["net", "testsite"], others: &["hyper"] },
    Fence { package: "hickory-proto", ours: &["testkit"], others: &["hickory-net", "hickory-resolver"] },
    Fence { package: "hickory-resolver", ours: &["net"], others: &[] },
    Fence {
        package: "tokio",
        ours: &["net", "cluster", "server", "testsite"],
        others: &[
            "axum",
            "h2",
            "hickory-net",
            "hickory-resolver",
            "hyper",
            "hyper-util",
            "tokio-rustls",
            "tokio-stream",
            "tokio-util",
            "tonic",
            "tower",
        ],
    },
    Fence { package: "axum", ours: &["server"], others: &[] },
    Fence { package: "hyper", ours: &["cluster", "server"], others: &["axum", "hyper-util"] },
    Fence { package: "httparse", ours: &["net", "testsite", "testkit"], others: &["hyper"] },
    Fence { package: "anyhow", ours: &["xtask", "testkit"], others: &["brotli*", "prost-derive"] },
    Fence { package: "clap", ours: &["cli"], others: &["clap_complete"] },
    Fence { package: "clap_complete", ours: &["cli"], others: &[] },
    Fence { package: "crossterm", ours: &["cli"], others: &[] },
    Fence { package: "ratatui", ours: &["cli"], others: &[] },
    Fence { package: "plotters", ours: &["xtask"], others: &[] },
    Fence { package: "tar", ours: &["archive", "cli", "xtask"], others: &[] },
    Fence { package: "wasmi", ours: &["extension"], others: &[] },
    Fence { package: "html5ever", ours: &["html"], others: &[] },
    Fence { package: "protox", ours: &["grpc", "cluster"], others: &[] },
    Fence { package: "prost-reflect", ours: &["grpc"], others: &["protox"] },
    Fence { package: "tonic", ours: &["cluster"], others: &["tonic-prost"] },
    Fence { package: "tonic-prost", ours: &["cluster"], others: &[] },
    Fence { package: "rusqlite", ours: &["sql"], others: &[] },
    Fence { package: "postgres-protocol", ours: &["sql"], others: &[] },
    Fence { package: "snap", ours: &["kafka", "output"], others: &[] },
    Fence { package: "lz4_flex", ours: &["kafka"], others: &[] },
    Fence { package: "gjson", ours: &["js"], others: &[] },
    Fence { package: "onrush-quickjs-sys", ours: &["js"], others: &[] },
];

/// Packages we do without, and why.
const BANNED: &[(&str, &str)] = &[
    ("ring", "aws-lc-rs is the one cryptographic library"),
    ("openssl", "rustls is the one TLS library"),
    ("openssl-sys", "rustls is the one TLS library"),
    ("native-tls", "rustls is the one TLS library"),
    ("reqwest", "HTTP is our own: its phases are what we measure"),
    ("chrono", "times are Nanos; formatting takes a page of code"),
    ("rquickjs", "its safe layer gets in the way of fibers; see docs/design/003-patched-quickjs.md"),
    ("rquickjs-core", "its safe layer gets in the way of fibers; see docs/design/003-patched-quickjs.md"),
];

/// Packages others may bring along, but our manifests may not name.
const NOT_DIRECTLY: &[(&str, &str)] = &[("lazy_static", "std::sync::LazyLock"), ("once_cell", "std::sync::OnceLock")];

/// Checks our manifests, and the packages that are really built on this platform.
pub(super) fn check(files: &[File], crates: &[Crate], edges: &[(String, String)], report: &mut Report) {
    for this in crates {
        let path = format!("crates/{}/Cargo.toml", this.folder);
        for name in this.needs.iter().chain(&this.dev) {
            if let Some((_, instead)) = NOT_DIRECTLY.iter().find(|(banned, _)| banned == name) {
                report.findings.push(Finding::new(&path, 0, format!("uses {name}: use {instead}")));
            }
            if let Some(fence) = fence(name)
                && !fence.ours.contains(&this.folder.as_str())
            {
                report.findings.push(Finding::new(
                    &path,
                    0,
                    format!("uses {name}, which is fenced to {}", fence.ours.join(", ")),
                ));
            }
        }
    }
    for (package, used) in edges {
        let message = match (BANNED.iter().find(|(banned, _)| banned == used), fence(used)) {
            (Some((_, why)), _) => format!("{package} brings {used}: {why}"),
            (None, Some(fence)) if !is_ours(package) && !fence.others.iter().any(|other| matches(other, package)) => {
                format!("{package} brings {used}, which is fenced to {}", fence.ours.join(", "))
            }
            _ => continue,
        };
        report.findings.push(Finding::new("Cargo.lock", 0, message));
    }
    let Some(deny) = required(files, DENY, report) else { return };
    for (name, _) in BANNED {
        if !deny.contains(&format!("{{ crate = \"{name}\"")) {
            report.findings.push(Finding::new(DENY, 0, format!("does not ban {name} as tidy does")));
        }
    }
    for fence in FENCES.iter().filter(|fence| !fence.package.ends_with('*')) {
        let wrappers: Vec<String> = fence
            .ours
            .iter()
            .map(|folder| package_of(folder))
            .chain(fence.others.iter().filter(|other| !other.ends_with('*')).map(|&other| other.to_owned()))
            .collect();
        let line = deny.lines().find(|line| line.contains(&format!("{{ crate = \"{}\", wrappers = ", fence.package)));
        if !line.is_some_and(|line| wrappers.iter().all(|wrapper| line.contains(&format!("\"{wrapper}\"")))) {
            report.findings.push(Finding::new(
                DENY,
                0,
                format!("does not fence {} to {} as tidy does", fence.package, wrappers.join(", ")),
            ));
        }
    }
}

fn fence(name: &str) -> Option<&'static Fence> {
    FENCES.iter().find(|fence| matches(fence.package, name))
}

fn matches(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == name, |start| name.starts_with(start))
}

fn is_ours(package: &str) -> bool {
    package == "onrush" || package == "xtask" || package.starts_with("onrush-")
}

fn package_of(folder: &str) -> String {
    match folder {
        "cli" => "onrush".to_owned(),
        "quickjs" => "onrush-quickjs-sys".to_owned(),
        "xtask" => "xtask".to_owned(),
        folder => format!("onrush-{folder}"),
    }
}

const DENY: &str = "deny.toml";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        assert!(matches("oxc_*", "oxc_parser") && matches("rustls", "rustls"));
        assert!(!matches("rustls", "rustls-pki-types") && !matches("oxc_*", "oxc"));
    }

    #[test]
    fn fences_hold() {
        let edges =
            [("onrush-js", "tls-thing"), ("tls-thing", "rustls"), ("tls-thing", "ring"), ("onrush-net", "rustls")];
        let edges = edges.map(|(package, used)| (package.to_owned(), used.to_owned()));
        let crates =
            [Crate { folder: "js".to_owned(), needs: vec!["rustls".to_owned()], dev: vec!["once_cell".to_owned()] }];
        let deny = File { path: DENY.to_owned(), text: String::new() };
        let mut report = Report::default();
        check(&[deny], &crates, &edges, &mut report);
        let messages: Vec<&str> = report.findings.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(
            messages[..4],
            [
                "uses rustls, which is fenced to certificates, net, cluster, server, testsite, testkit",
                "uses once_cell: use std::sync::OnceLock",
                "tls-thing brings rustls, which is fenced to certificates, net, cluster, server, testsite, testkit",
                "tls-thing brings ring: aws-lc-rs is the one cryptographic library",
            ]
        );
        assert_eq!(
            messages.len(),
            4 + BANNED.len() + FENCES.iter().filter(|fence| !fence.package.ends_with('*')).count()
        );
    }
}
