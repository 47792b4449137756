//! The reference page of options, made from the tables and held to what is checked in.
//!
//! `cargo xtask docs` writes it.

use onrush_plan::{ExecutorKind, OPTIONS, OptionInfo, SCENARIO_FIELDS};

use crate::flags::{Command, FLAGS, Flag, Group, Role};

/// Where the page is, from this crate.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/options.md");
/// Set by `cargo xtask docs`: write the page instead of comparing it.
const WRITE: &str = "ONRUSH_WRITE_DOCS";

const HEAD: &str = "\
# Options and flags

<!-- Made by `cargo xtask docs` from the tables in crates/plan and crates/cli. Do not edit. -->

Options come from five places, later ones winning: defaults, the config file, `export const options` in the script (or
the options of an archive), `K6_*` variables, flags. A dash means that the option cannot be set there.

- Setting one of `duration`, `iterations`, `stages` and `scenarios` in one place drops all four of the places below.
- Objects and lists (`tags`, `thresholds`, …) replace those of the places below; nothing is merged.
- Durations of flags need a unit (`10s`); elsewhere a bare number is in milliseconds and days are allowed (`1d2h`).
- Unknown keys of options cause a warning, unknown fields of a scenario are errors.

## Options

| option | flag | variable | type | default | what it does |
|---|---|---|---|---|---|
";

fn page() -> String {
    let code = |text: &str| if text.is_empty() { "–".to_owned() } else { format!("`{}`", text.replace('|', "\\|")) };
    let mut page = HEAD.to_owned();
    let mut rows: Vec<&OptionInfo> = OPTIONS.iter().collect();
    rows.sort_by_key(|row| row.area);
    for row in rows {
        let key = if row.in_scripts { code(row.key) } else { format!("({})", code(row.key)) };
        let flag = row.flag.and_then(|info| crate::flags::find(info.long)).map_or_else(|| "–".to_owned(), names);
        let about = sentence(row.about, row.allowed);
        let about =
            if row.flag.is_some_and(|info| is_missing(info.long)) { about + " Not in this version." } else { about };
        page.push_str(&format!(
            "| {key} | {flag} | {} | {} | {} | {about} |\n",
            code(row.variable.unwrap_or_default()),
            row.kind.name(),
            code(row.default),
        ));
    }
    page.push_str("\nThe two in parentheses cannot be set in scripts and config files.\n\n## Fields of scenarios\n\n");
    page.push_str("| field | executors | default | what it does |\n|---|---|---|---|\n");
    for field in SCENARIO_FIELDS {
        let executors = if field.executors.is_empty() { "all".to_owned() } else { names_of(field.executors) };
        let default = if field.default.is_empty() { "must be set".to_owned() } else { code(field.default) };
        page.push_str(&format!("| `{}` | {executors} | {default} | {} |\n", field.key, sentence(field.about, &[])));
    }
    page.push_str(
        "\n## Settings of the program\n\nThese are not options of a test: scripts and archives do not have them. `-c` is `--config`, except in `http`, where it is\n`--connections`.\n\n",
    );
    page.push_str("| flag | variable | commands | what it does |\n|---|---|---|---|\n");
    for flag in FLAGS.iter().filter(|flag| flag.role != Role::Option && flag.group != Group::NotYet) {
        page.push_str(&format!(
            "| {} | {} | {} | {} |\n",
            names(flag),
            code(flag.env.unwrap_or_default()),
            commands(flag),
            sentence(flag.help, flag.allowed),
        ));
    }
    page
}

fn names_of(executors: &[ExecutorKind]) -> String {
    executors.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ")
}

fn is_missing(long: &str) -> bool {
    FLAGS.iter().any(|flag| flag.long == long && matches!(flag.role, Role::NotYet(_)))
}

fn names(flag: &Flag) -> String {
    let short = flag.short.map(|short| format!("`-{short}`, ")).unwrap_or_default();
    format!("{short}`{}`", flag.with_value())
}

fn commands(flag: &Flag) -> String {
    let of = |command: &Command| command.takes(flag);
    let all = [Command::Run, Command::New, Command::Status, Command::Target];
    if all.iter().all(of) {
        return "all".to_owned();
    }
    Command::ALL.iter().filter(|command| of(command)).map(|command| command.name()).collect::<Vec<_>>().join(", ")
}

fn sentence(about: &str, allowed: &[&str]) -> String {
    let about = about.replace('|', "\\|").replace('*', "\\*").replace('<', "\\<");
    if allowed.is_empty() || allowed.iter().all(|value| about.contains(value)) {
        return format!("{about}.");
    }
    let allowed: Vec<String> = allowed.iter().map(|value| format!("`{value}`")).collect();
    format!("{about}: {}.", allowed.join(", "))
}

#[test]
fn the_reference_page_is_up_to_date() {
    let page = page();
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(PAGE, page).expect("the page can be written");
        return;
    }
    let found = std::fs::read_to_string(PAGE).unwrap_or_default();
    assert!(found == page, "docs/reference/options.md differs from the tables: run `cargo xtask docs`");
}
