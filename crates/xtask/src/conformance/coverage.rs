//! Which script shows which row of k6's surface: each method, parameter, field, option and error code of HTTP and the
//! network.

use std::{collections::HashSet, path::Path};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::json::read_json;

/// The list, in its order.
#[derive(Debug)]
pub(super) struct Coverage {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    area: String,
    row: String,
    /// Scripts that show it; or none, and why there are none.
    shown: Result<Vec<String>, String>,
}

impl Coverage {
    /// Reads the list.
    ///
    /// # Errors
    /// When a row has neither scripts nor a reason, or both, or stands there twice.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        Self::parse(&read_json(&folder.join(FILE))?)
    }

    fn parse(list: &Value) -> Result<Self> {
        let list = list.as_array().with_context(|| format!("{FILE} must be a list"))?;
        let mut known = HashSet::new();
        let mut rows = Vec::with_capacity(list.len());
        for (index, entry) in list.iter().enumerate() {
            let at = |problem: &str| format!("{FILE}: row {}: {problem}", index + 1);
            let text = |key: &str| {
                let text = entry[key].as_str().filter(|text| !text.trim().is_empty());
                text.map(str::to_owned).with_context(|| at(&format!("`{key}` is missing")))
            };
            let (area, row) = (text("area")?, text("row")?);
            if let Some((key, _)) = entry
                .as_object()
                .into_iter()
                .flatten()
                .find(|(key, _)| !["area", "row", "scripts", "why"].contains(&key.as_str()))
            {
                bail!(at(&format!("`{key}` is not known")));
            }
            let scripts = entry["scripts"].as_array().filter(|scripts| !scripts.is_empty());
            let shown = match (scripts, entry["why"].as_str().filter(|why| !why.trim().is_empty())) {
                (Some(scripts), None) => {
                    let names = scripts.iter().map(|name| name.as_str().map(str::to_owned).context("a name is a text"));
                    Ok(names.collect::<Result<_>>().with_context(|| at("`scripts`"))?)
                }
                (None, Some(why)) => Err(why.to_owned()),
                _ => bail!(at(&format!("{area}, {row}: either `scripts` or `why`"))),
            };
            if !known.insert((area.clone(), row.clone())) {
                bail!(at(&format!("{area}, {row} is there twice")));
            }
            rows.push(Row { area, row, shown });
        }
        Ok(Self { rows })
    }

    /// Scripts that are named and do not exist, a line each.
    pub(super) fn missing(&self, scripts: &HashSet<&str>) -> Vec<String> {
        let named = self.rows.iter().flat_map(|row| row.shown.iter().flatten().map(move |name| (row, name)));
        named
            .filter(|(_, name)| !scripts.contains(name.as_str()))
            .map(|(row, name)| format!("{FILE}: {}, {}: there is no script {name}", row.area, row.row))
            .collect()
    }

    /// How many rows have scripts, and how many a reason instead.
    pub(super) fn counts(&self) -> (usize, usize) {
        let shown = self.rows.iter().filter(|row| row.shown.is_ok()).count();
        (shown, self.rows.len() - shown)
    }

    /// All rows for a reader, area by area.
    pub(super) fn table(&self) -> String {
        let width = self.rows.iter().map(|row| row.row.chars().count()).max().unwrap_or(0).min(ROW_WIDTH_MAX);
        let mut text = String::new();
        let mut area = "";
        for row in &self.rows {
            if row.area != area {
                area = &row.area;
                let of_area = || self.rows.iter().filter(|other| other.area == area);
                let shown = of_area().filter(|row| row.shown.is_ok()).count();
                text.push_str(&format!("\n{area} ({shown} of {} rows have scripts)\n", of_area().count()));
            }
            let end = row.shown.as_ref().map_or_else(|why| format!("– {why}"), |names| names.join(" "));
            text.push_str(&format!("  {:width$}  {end}\n", row.row));
        }
        text
    }
}

/// Below the folder of scripts.
pub(super) const FILE: &str = "coverage.json";
/// Longer rows stand out of the column.
const ROW_WIDTH_MAX: usize = 40;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_have_scripts_or_a_reason() {
        let list = json!([
            {"area": "a", "row": "get", "scripts": ["http/get", "http/gone"]},
            {"area": "b", "row": "get", "why": "not yet"},
        ]);
        let coverage = Coverage::parse(&list).unwrap();
        assert_eq!(coverage.counts(), (1, 1));
        assert_eq!(
            coverage.missing(&HashSet::from(["http/get"])),
            ["coverage.json: a, get: there is no script http/gone"]
        );
        assert!(coverage.table().contains("b (0 of 1 rows have scripts)\n  get  – not yet"));
        for wrong in [
            json!([{"area": "a", "row": "b"}]),
            json!([{"area": "a", "row": "b", "scripts": []}]),
            json!([{"area": "a", "row": "b", "scripts": ["c"], "why": "d"}]),
            json!([{"area": "a", "row": "b", "why": "d"}, {"area": "a", "row": "b", "why": "d"}]),
            json!([{"area": "a", "row": "b", "why": "d", "x": 1}]),
            json!([{"row": "b", "why": "d"}]),
        ] {
            assert!(Coverage::parse(&wrong).is_err(), "{wrong}");
        }
    }
}
