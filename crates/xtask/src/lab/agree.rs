//! Do two runs say the same? Rank correlation of all their cells, and whether one's medians are in the other's intervals.

use std::{fmt::Write as _, path::Path};

use anyhow::Result;

use super::{
    experiment::EXPERIMENTS,
    report::{Row, number},
    statistics::rank_correlation,
    store::read_cells,
};

/// Compares two runs by the figure that each experiment is about.
pub(super) fn compare(one: &Path, other: &Path) -> Result<String> {
    let (one, other) = (read_cells(one)?, read_cells(other)?);
    Ok(text(&Row::all(&one), &Row::all(&other)))
}

fn text(one: &[Row<'_>], other: &[Row<'_>]) -> String {
    let mut text =
        "| experiment | cells | rank correlation | medians within the other's interval |\n|---|---:|---:|---:|\n"
            .to_owned();
    let (mut correlations, mut within_all, mut count_all) = (Vec::new(), 0, 0);
    for experiment in EXPERIMENTS {
        let (mut pairs, mut within) = (Vec::new(), 0);
        for row in one.iter().filter(|row| row.experiment == experiment.name) {
            let same =
                |two: &&Row<'_>| (two.experiment, two.amount, two.tool) == (row.experiment, row.amount, row.tool);
            let estimates = row.main(one).zip(other.iter().find(same).and_then(|two| two.main(other)));
            let Some((first, second)) = estimates else { continue };
            pairs.push((first.median, second.median));
            within += usize::from(first.contains(second.median) || second.contains(first.median));
        }
        if pairs.is_empty() {
            continue;
        }
        let correlation = rank_correlation(&pairs);
        correlations.extend(correlation);
        within_all += within;
        count_all += pairs.len();
        let shown = correlation.map_or_else(|| "–".to_owned(), |correlation| format!("{correlation:.3}"));
        let _ = writeln!(text, "| {} | {} | {shown} | {within} |", experiment.name, pairs.len());
    }
    let least = correlations.iter().copied().fold(f64::INFINITY, f64::min);
    let verdict = match correlations.is_empty() {
        true => "nothing to compare".to_owned(),
        false if least >= AGREE => format!("the runs agree: every rank correlation is at least {AGREE}"),
        false => format!("the runs do not agree: a rank correlation of {least:.3} is below {AGREE}"),
    };
    let _ = writeln!(
        text,
        "\n{verdict}; {} of {} medians are within the other's interval",
        number(within_all as f64),
        number(count_all as f64)
    );
    text
}

/// What two full runs on a quiet machine reach.
const AGREE: f64 = 0.95;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn cells(costs: [f64; 4]) -> Vec<Value> {
        let tools = ["a", "b", "c", "d"];
        tools
            .iter()
            .zip(costs)
            .map(|(tool, cost)| json!({ "experiment": "static", "amount": "20", "tool": tool, "round": 0, "usage": { "cpu_us_per_request": cost } }))
            .collect()
    }

    #[test]
    fn agreement() {
        let (one, same, other) =
            (cells([1.0, 2.0, 3.0, 4.0]), cells([1.1, 2.0, 3.3, 4.4]), cells([4.0, 1.0, 3.0, 2.0]));
        let said = text(&Row::all(&one), &Row::all(&same));
        assert!(said.contains("| static | 4 | 1.000 | 1 |") && said.contains("the runs agree"), "{said}");
        assert!(text(&Row::all(&one), &Row::all(&other)).contains("do not agree"));
        assert!(text(&[], &[]).contains("nothing to compare"));
    }
}
