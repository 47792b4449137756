//! What is printed before a run: the banner and the execution block.

use onrush_js::IsolationChoice;
use onrush_plan::{GoDuration, Plan};

/// k6: the end of the test is shown to a tenth of a second.
fn in_tenths(time: GoDuration) -> GoDuration {
    const TENTH_NS: i64 = 100_000_000;
    let ns = time.ns();
    GoDuration::from_ns(ns.saturating_add(TENTH_NS / 2) / TENTH_NS * TENTH_NS)
}

const ART: &str = "
      ___  _ __  _ __ _   _ ___| |__
     / _ \\| '_ \\| '__| | | / __| '_ \\
    | (_) | | | | |  | |_| \\__ \\ | | |
     \\___/|_| |_|_|   \\__,_|___/_| |_|
";

/// The name in large letters.
pub(crate) fn banner(color: bool) -> String {
    if color { format!("\x1b[38;2;24;160;251m{ART}\x1b[0m\n") } else { format!("{ART}\n") }
}

/// What runs where, and what it will do. `agents`: how many processes the run has of its own.
pub(crate) fn execution(
    script: &str,
    outputs: &str,
    agents: Option<u32>,
    isolation: &IsolationChoice,
    plan: &Plan,
    color: bool,
) -> String {
    let value = |text: &str| if color { format!("\x1b[36m{text}\x1b[0m") } else { text.to_owned() };
    let place = match agents {
        None => "local".to_owned(),
        Some(1) => "1 agent".to_owned(),
        Some(count) => format!("{count} agents"),
    };
    let layout = format!("{} ({})", isolation.isolation.as_str(), isolation.reason);
    let count = plan.descriptions.len();
    let scenarios = format!(
        "({}) {count} scenario{}, {} max VUs, {} max duration (incl. graceful stop):",
        plan.share_text(),
        if count == 1 { "" } else { "s" },
        plan.max_vus,
        in_tenths(plan.end_offset)
    );
    let mut text = format!(
        "\n     execution: {}\n        script: {}\n        output: {}\n     vu layout: {}\n\n     scenarios: {}\n",
        value(&place),
        value(script),
        value(outputs),
        value(&layout),
        value(&scenarios)
    );
    for description in plan.descriptions.iter() {
        text.push_str(&format!("              * {}: {}\n", description.name, description.text));
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected texts were printed by k6 1.8.1.
    #[test]
    fn the_end_is_shown_to_a_tenth() {
        let check =
            |ms: i64, expect: &str| assert_eq!(in_tenths(GoDuration::from_ns(ms * 1_000_000)).to_string(), expect);
        check(1_040, "1s");
        check(1_050, "1.1s");
        check(1_250, "1.3s");
        check(60_050, "1m0.1s");
        check(630_000, "10m30s");
        check(0, "0s");
    }
}
