//! The page of the hostile suite, made from its table.

use super::{
    RECORDED,
    case::{Case, Outcome},
    cases,
};

/// Where the page is, from this crate.
pub const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/hostile-servers.md");

const HEAD: &str = "\
# Servers that misbehave

<!-- Made by `cargo run -p onrush-testkit --example hostile_cases page` from crates/testkit/src/cases. Do not edit. -->

What a load generator meets when a system breaks under load, and worse. In each case below one server misbehaves;
beside it stands what a script sees: `status`, `error_code` and `error` of the Response. k6 is v1.8.1, asked the same
way. Tests hold Onrush to this page: `crates/net/tests/hostile_suite.rs` with an eye on descriptors and connections,
`crates/cli/tests/it/hostile.rs` with a run whose every VU meets another of these servers at once. HTTP/2 has a suite
of its own, `crates/net/tests/hostile_http2.rs`.

```console
$ cargo run -p onrush-testkit --example hostile_cases                            # this list
$ cargo run -p onrush-testkit --example hostile_cases serve                      # all servers, to try with any client
$ cargo run -p onrush-testkit --example hostile_cases compare /path/to/k6 /path/to/onrush
```

A response head has at most 10 MiB, as in k6. A body that is kept has at most 128 MiB, decoded or not; one that is
discarded has no limit but the request's timeout. `Response.json(selector)` looks into documents of at most 500 levels.
";

/// The page's text.
pub fn page() -> String {
    let recorded: serde_json::Value = serde_json::from_str(RECORDED).unwrap_or_default();
    let mut page = HEAD.to_owned();
    for (title, about, list) in super::groups() {
        page.push_str(&format!(
            "\n## {title}\n\n{about}\n\n| case | the server … | k6 | Onrush |\n|---|---|---|---|\n"
        ));
        for case in &list {
            page.push_str(&row(case, &recorded));
        }
    }
    page.push_str(&format!("\n{} cases in all.\n", cases().len()));
    page
}

fn row(case: &Case, recorded: &serde_json::Value) -> String {
    let rows = recorded[case.name].as_array().cloned().unwrap_or_default();
    let k6: Vec<Outcome> = rows.iter().map(Outcome::from_json).collect();
    let ours = match &case.differs {
        None => "the same".to_owned(),
        Some(difference) => format!("{}: {}", show(&difference.outcomes), difference.why),
    };
    format!("| `{}` | {} | {} | {ours} |\n", case.name, case.about, show(&k6))
}

/// Outcomes as code, with what would break a table escaped.
fn show(outcomes: &[Outcome]) -> String {
    let shown = outcomes.iter().map(|outcome| {
        let text = outcome.to_string();
        let text = text.trim_end().replace('|', "\\|");
        if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
    });
    shown.collect::<Vec<_>>().join(", then ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_up_to_date() {
        let written = std::fs::read_to_string(PAGE).unwrap_or_default();
        assert!(written == page(), "write it anew: cargo run -p onrush-testkit --example hostile_cases page");
    }
}
