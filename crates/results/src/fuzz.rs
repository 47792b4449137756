//! Files that anybody may have written.

use std::io::Write as _;

use onrush_metrics::{Registry, Sink, Step};

use crate::{Head, MetricRow, Replayed, format::MAGIC};

/// Reads a file of which the first byte says what is strange: with 0 everything behind its first line, else the records, packed as
/// they should be. Whatever comes out of it is computed with.
pub fn fuzz(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let mut file = MAGIC.to_vec();
    if *first == 0 {
        file.extend(rest);
    } else {
        let head = Head { metrics: MetricRow::all(&Registry::new()), ..Head::default() };
        let head = serde_json::to_string(&head).unwrap_or_default();
        let mut records = vec![postcard::to_allocvec(&(0_u32, head)).unwrap_or_default()];
        // Each begins with its length.
        let mut rest = rest;
        while let [low, high, more @ ..] = rest {
            let length = usize::from(u16::from_le_bytes([*low, *high])).min(more.len());
            records.push(more[..length].to_vec());
            rest = &more[length..];
        }
        let Ok(mut encoder) = zstd::stream::write::Encoder::new(Vec::new(), 1) else { return };
        for record in records {
            let packed = encoder.write_all(&record).and_then(|()| encoder.flush());
            packed.expect("memory takes everything");
            let frame = std::mem::take(encoder.get_mut());
            file.extend(u32::try_from(frame.len()).unwrap_or(u32::MAX).to_le_bytes());
            file.extend(crc32fast::hash(&frame).to_le_bytes());
            file.extend(frame);
        }
    }
    let mut last: Option<Step> = None;
    let read = Replayed::read(file.as_slice(), |_, step| {
        for series in &step.delta.series {
            if let Sink::Trend(values) = &series.sink {
                let buckets: u64 = values.buckets().iter().map(|bucket| bucket.count).fold(0, u64::saturating_add);
                assert!(values.is_empty() || buckets == values.count(), "a histogram counts other than its buckets");
                let _ = (values.quantile(0.0), values.quantile(0.5), values.quantile(1.0), values.mean());
            }
        }
        last = Some(last.take().map_or_else(|| step.clone(), |before| before.joined(step)));
    });
    drop(read);
}
