//! The messages of Prometheus remote write 2.0 (package `io.prometheus.write.v2`), as far as they are sent: texts are written once a
//! request, and series say of which kind they are and since when they count.

use std::collections::HashMap;

use super::{
    series::{Kind, Row},
    wire::{NativeHistogram, Sample},
};

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Request {
    /// The first one is empty.
    #[prost(string, repeated, tag = "4")]
    symbols: Vec<String>,
    #[prost(message, repeated, tag = "5")]
    timeseries: Vec<Series>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Series {
    /// Names and values in turns: their places among the symbols.
    #[prost(uint32, repeated, tag = "1")]
    labels_refs: Vec<u32>,
    #[prost(message, repeated, tag = "2")]
    samples: Vec<Sample>,
    #[prost(message, repeated, tag = "3")]
    histograms: Vec<NativeHistogram>,
    #[prost(message, optional, tag = "5")]
    metadata: Option<Metadata>,
    /// Milliseconds since 1970; 0 for what does not count from somewhere on.
    #[prost(int64, tag = "6")]
    created_timestamp: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Metadata {
    #[prost(int32, tag = "1")]
    kind: i32,
    #[prost(uint32, tag = "3")]
    help_ref: u32,
    #[prost(uint32, tag = "4")]
    unit_ref: u32,
}

impl Request {
    /// Of these series, which count since `began_ms`.
    pub(super) fn new(rows: Vec<Row>, began_ms: i64) -> Self {
        let mut symbols = Symbols::default();
        symbols.place("");
        let timeseries = rows.into_iter().map(|row| {
            let is_counted = row.kind != Kind::Gauge;
            let kind = match row.kind {
                Kind::Counter => 1,
                Kind::Gauge => 2,
                Kind::Histogram => 3,
            };
            let labels = row.series.labels.iter().flat_map(|label| [&label.name, &label.value]);
            let labels_refs = labels.map(|text| symbols.place(text)).collect();
            Series {
                labels_refs,
                samples: row.series.samples,
                histograms: row.series.histograms,
                metadata: Some(Metadata { kind, help_ref: 0, unit_ref: symbols.place(row.unit) }),
                created_timestamp: if is_counted { began_ms.max(0) } else { 0 },
            }
        });
        let timeseries = timeseries.collect();
        Self { symbols: symbols.all, timeseries }
    }
}

#[derive(Default)]
struct Symbols {
    all: Vec<String>,
    places: HashMap<String, u32>,
}

impl Symbols {
    fn place(&mut self, text: &str) -> u32 {
        if let Some(place) = self.places.get(text) {
            return *place;
        }
        // Requests have some thousand series at most.
        let place = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(text.to_owned());
        self.places.insert(text.to_owned(), place);
        place
    }
}

#[cfg(test)]
mod tests {
    use prost::Message as _;

    use super::{
        super::wire::{Label, TimeSeries},
        *,
    };

    #[test]
    fn texts_are_written_once() {
        let row = |name: &str, kind, unit| {
            let label = |name: &str, value: &str| Label { name: name.to_owned(), value: value.to_owned() };
            let labels = vec![label("__name__", name), label("testid", "t")];
            let samples = vec![Sample { value: 1.5, timestamp: 9 }];
            Row { completes: None, kind, unit, series: TimeSeries { labels, samples, histograms: Vec::new() } }
        };
        let rows = vec![row("k6_a_total", Kind::Counter, ""), row("k6_b", Kind::Gauge, "seconds")];
        let request = Request::new(rows, 7);
        let request = Request::decode(&*request.encode_to_vec()).expect("what was written");
        assert_eq!(request.symbols, ["", "__name__", "k6_a_total", "testid", "t", "k6_b", "seconds"]);
        assert_eq!(request.timeseries[0].labels_refs, [1, 2, 3, 4]);
        assert_eq!(request.timeseries[1].labels_refs, [1, 5, 3, 4]);
        let kinds = |series: &Series| series.metadata.as_ref().map(|metadata| (metadata.kind, metadata.unit_ref));
        assert_eq!(request.timeseries.iter().map(kinds).collect::<Vec<_>>(), [Some((1, 0)), Some((2, 6))]);
        assert_eq!(request.timeseries.iter().map(|series| series.created_timestamp).collect::<Vec<_>>(), [7, 0]);
        assert_eq!(request.timeseries[0].samples, [Sample { value: 1.5, timestamp: 9 }]);
    }
}
