//! The table of a run's agents.

use super::{
    columns::{Side, cut, lines, with_commas},
    palette::Palette,
    sections::title,
};
use crate::summary::agents::{AgentInfo, AgentsInfo};

/// Rows of the table: with more agents, those with something wrong come first and the rest is counted.
const ROWS_MAX: usize = 20;
/// Columns a name may take.
const NAME_COLUMNS: usize = 24;

/// The section; nothing without agents.
pub(super) fn render(info: &AgentsInfo, palette: &Palette) -> String {
    if info.agents.is_empty() {
        return String::new();
    }
    let mut text = title("AGENTS", palette);
    text.push_str(&format!("    agents: {}{}\n\n", info.agents.len(), info.begun()));
    let mut shown: Vec<&AgentInfo> = info.agents.iter().collect();
    if shown.len() > ROWS_MAX {
        // The sort is stable: by number within.
        shown.sort_by_key(|agent| !agent.is_bad());
    }
    let rest = shown.split_off(shown.len().min(ROWS_MAX));
    let head = ["agent", "name", "share", "VUs", "iterations", "requests", "CPU", "thread", "lag", "verdict"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(shown.iter().map(|agent| row(agent)));
    let (left, right) = (Side::Left, Side::Right);
    let sides = [right, left, right, right, right, right, right, right, right, left];
    let mut lines = lines(&sides, &rows).into_iter();
    text.extend(lines.next().map(|line| format!("    {line}\n")));
    for (line, agent) in lines.zip(shown) {
        let line = if agent.is_bad() { palette.warn.on(&line) } else { line };
        text.push_str(&format!("    {line}\n"));
        text.extend(agent.joined_at_seconds.map(|at| format!("      ↳ joined at {at:.1} s\n")));
        text.extend(agent.reasons.iter().map(|reason| format!("      ↳ {reason}\n")));
    }
    if !rest.is_empty() {
        let bad = rest.iter().filter(|agent| agent.is_bad()).count();
        let what = if bad > 0 { format!("{bad} of them not VALID") } else { "all VALID".to_owned() };
        text.push_str(&format!("    … and {} more, {what}\n", rest.len()));
    }
    text.push('\n');
    text
}

impl AgentsInfo {
    fn begun(&self) -> String {
        self.begun_within_ms.map_or_else(String::new, |(within, error)| {
            format!(", started within {} (clocks known to ±{})", milliseconds(within), milliseconds(error))
        })
    }
}

fn row(agent: &AgentInfo) -> Vec<String> {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let load = |of: &dyn Fn(&crate::summary::agents::AgentLoad) -> String| {
        agent.load.as_ref().map_or_else(|| "–".to_owned(), of)
    };
    vec![
        agent.number.to_string(),
        cut(&agent.name, NAME_COLUMNS),
        format!("{:.1} %", agent.share * 100.0),
        with_commas(agent.vus),
        with_commas(agent.iterations),
        with_commas(agent.requests),
        load(&|load| percent(load.cores / load.available_cores.max(0.01))),
        load(&|load| percent(load.busiest_thread_cores)),
        load(&|load| milliseconds(load.timer_lag_max_ms)),
        agent.verdict_text().to_owned(),
    ]
}

fn milliseconds(ms: f64) -> String {
    if ms < 10.0 { format!("{ms:.2} ms") } else { format!("{ms:.0} ms") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::{agents::AgentLoad, footer::Verdict};

    fn agent(number: u32) -> AgentInfo {
        let load = AgentLoad {
            cores: 0.5,
            available_cores: 2.0,
            busiest_thread_cores: 0.31,
            timer_lag_max_ms: 0.412,
            start_lag_p99_ms: None,
        };
        AgentInfo {
            number,
            name: format!("host-{number}"),
            share: 0.25,
            vus: 2_500,
            iterations: 12_000,
            requests: 1_234_567,
            load: Some(load),
            is_lost: false,
            joined_at_seconds: None,
            verdict: Verdict::Valid,
            reasons: Vec::new(),
        }
    }

    #[test]
    fn the_one_that_was_saturated_is_named() {
        let mut bad = agent(1);
        bad.verdict = Verdict::Invalid;
        bad.reasons = vec!["the generator had no CPU left in 9 of 10 seconds".to_owned()];
        let lost = AgentInfo { is_lost: true, load: None, requests: 0, joined_at_seconds: Some(12.34), ..agent(2) };
        let info = AgentsInfo { agents: vec![agent(0), bad, lost], begun_within_ms: Some((0.4123, 0.0951)) };
        let expected = "
  █ AGENTS 

    agents: 3, started within 0.41 ms (clocks known to ±0.10 ms)

    agent  name     share    VUs  iterations   requests   CPU  thread      lag  verdict
        0  host-0  25.0 %  2,500      12,000  1,234,567  25 %    31 %  0.41 ms  VALID
        1  host-1  25.0 %  2,500      12,000  1,234,567  25 %    31 %  0.41 ms  INVALID
      ↳ the generator had no CPU left in 9 of 10 seconds
        2  host-2  25.0 %  2,500      12,000          0     –       –        –  LOST
      ↳ joined at 12.3 s

";
        assert_eq!(render(&info, &Palette::PLAIN), expected);
        let json = info.to_json();
        assert_eq!((&json["count"], &json["started_within_ms"]), (&3.into(), &0.4123.into()));
        assert_eq!(json["agents"][1]["verdict"], "INVALID");
        assert_eq!(json["agents"][2]["cpu_cores"], serde_json::Value::Null);
        assert_eq!(render(&AgentsInfo::default(), &Palette::PLAIN), "");
    }

    #[test]
    fn of_many_agents_the_bad_ones_are_shown() {
        let mut agents: Vec<AgentInfo> = (0..1_000).map(agent).collect();
        agents[777].is_lost = true;
        let text = render(&AgentsInfo { agents, begun_within_ms: None }, &Palette::PLAIN);
        let mut lines = text.lines().skip(5);
        assert!(lines.next().is_some_and(|line| line.contains("  verdict")), "{text}");
        assert!(lines.next().is_some_and(|line| line.contains(" 777  ") && line.ends_with("LOST")), "{text}");
        assert!(text.contains("    … and 980 more, all VALID\n"), "{text}");
    }
}
