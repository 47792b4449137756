//! Requests by their `name`: what the table of the full summary shows.

use std::collections::BTreeMap;

use super::collect::tag;
use crate::{builtin, histogram::Histogram, merged::Merged, tag::SystemTag};

/// The requests of one name.
#[derive(Clone, Debug, Default)]
pub struct Endpoint {
    /// Their tag `name`: the URL, unless the script gave another one.
    pub name: String,
    /// How many ended.
    pub count: u64,
    /// How many failed; `None` where no response callback says what that is.
    pub failed: Option<u64>,
    /// Their `http_req_duration`, milliseconds.
    pub durations: Histogram,
}

/// Names with a row of their own; the rest is added up in one.
const ROWS_MAX: usize = 30;

/// Gathers the requests of each name, the most frequent first. Needs the tags that [`super::subscribe`] keeps for the full
/// layout.
pub fn endpoints_from(merged: &Merged) -> Vec<Endpoint> {
    let mut by_name: BTreeMap<&str, Endpoint> = BTreeMap::new();
    for series in merged.series_of(builtin::HTTP_REQ_DURATION) {
        let (Some(name), Some(durations)) = (tag(&series.tags, SystemTag::Name), series.sink.trend()) else { continue };
        by_name.entry(name).or_default().durations.merge(durations);
    }
    for series in merged.series_of(builtin::HTTP_REQ_FAILED) {
        let (Some(name), Some((failed, _))) = (tag(&series.tags, SystemTag::Name), series.sink.rate()) else {
            continue;
        };
        *by_name.entry(name).or_default().failed.get_or_insert(0) += failed;
    }
    let mut rows: Vec<Endpoint> = by_name
        .into_iter()
        .map(|(name, endpoint)| Endpoint { name: name.to_owned(), count: endpoint.durations.count(), ..endpoint })
        .collect();
    // Names of one count stay in their order.
    rows.sort_by_key(|row| (row.name == crate::OTHER, std::cmp::Reverse(row.count)));
    let rest = rows.split_off(rows.len().min(ROWS_MAX));
    if !rest.is_empty() {
        let mut other = Endpoint { name: format!("{} names: {}", rest.len(), crate::OTHER), ..Endpoint::default() };
        for row in &rest {
            other.count += row.count;
            other.durations.merge(&row.durations);
            if let Some(failed) = row.failed {
                *other.failed.get_or_insert(0) += failed;
            }
        }
        rows.push(other);
    }
    rows
}
