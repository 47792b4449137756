//! The HTML report: one file with the page, the summary and the records.

use std::io::Write as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::{Compression, write::GzEncoder};

use crate::{History, assets};

/// Where the page has its data.
const PLACE: &str = "<!--onrush:data-->";

/// A report takes fewer bytes than these where longer steps can save some: what mail servers and bug trackers take. The page is 183 KB of
/// it.
const BYTES: usize = 1_000_000;

/// Makes the report of a run. `summary` is what `--summary-export` writes. Its steps are as short as a megabyte allows.
pub fn html(history: &History, summary: &serde_json::Value) -> String {
    let mut html = String::new();
    for length in history.step_lengths() {
        html = page(&history.lines(length), summary);
        if html.len() < BYTES {
            break;
        }
    }
    html
}

/// Makes a report of a summary without the run it is of: there are no records in it.
pub fn html_of_summary(summary: &serde_json::Value) -> String {
    page("", summary)
}

/// The page with these records.
fn page(lines: &str, summary: &serde_json::Value) -> String {
    let summary = inert(&summary.to_string());
    let data = format!(
        "<script type=\"application/json\" id=\"onrush-summary\">{summary}</script>\n\
         <script type=\"application/x-ndjson+gzip;base64\" id=\"onrush-stream\">{}</script>",
        STANDARD.encode(packed(lines))
    );
    // Once: what is inserted may contain anything.
    assets::REPORT.replacen(PLACE, &data, 1)
}

/// As `gunzip` reads it.
pub fn packed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // Memory takes everything.
    encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish()).unwrap_or_default()
}

/// JSON that ends no element and begins no comment, whatever is in it: these signs are only in its texts.
fn inert(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_one_place_for_data() {
        assert_eq!(assets::REPORT.matches(PLACE).count(), 1);
    }

    #[test]
    fn a_summary_has_no_records_beside_it() {
        use std::io::Read as _;

        let html = html_of_summary(&serde_json::json!({ "metrics": { "vus": { "value": 1 } } }));
        assert!(html.contains(r#"id="onrush-summary">{"metrics":{"vus":{"value":1}}}</script>"#), "{html}");
        let packed = html.split("id=\"onrush-stream\">").nth(1).and_then(|rest| rest.split("</script>").next());
        let packed = STANDARD.decode(packed.expect("it is there")).expect("Base64");
        let mut lines = String::new();
        flate2::read::GzDecoder::new(packed.as_slice()).read_to_string(&mut lines).expect("gzip");
        assert_eq!(lines, "");
    }

    #[test]
    fn what_is_measured_cannot_break_out() {
        let evil = "</script><script>alert(1)</script><!--onrush:data--><!--";
        let summary = serde_json::json!({ "metrics": { evil: { "count": 1 } } });
        let html =
            page(&format!("{{\"event\":\"log\",\"data\":{{\"message\":{}}}}}\n", serde_json::json!(evil)), &summary);
        assert!(!html.contains("alert(1)</script>"), "{html}");
        assert_eq!(html.matches("</script>").count(), assets::REPORT.matches("</script>").count() + 2);
        let json = html.split("id=\"onrush-summary\">").nth(1).and_then(|rest| rest.split("</script>").next());
        assert_eq!(serde_json::from_str::<serde_json::Value>(json.expect("it is there")).expect("it is JSON"), summary);
    }
}
