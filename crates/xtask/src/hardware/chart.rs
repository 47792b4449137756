//! The runs of a load as one picture: CPU, memory, network, VUs and requests over time, one below the other.

use anyhow::{Result, anyhow};
use plotters::prelude::{
    BLACK, ChartBuilder, Color as _, IntoDrawingArea as _, IntoFont as _, LineSeries, PathElement, RGBColor,
    SVGBackend, SeriesLabelPosition, WHITE,
};

use super::{Ran, sample::Sample};

const SIZE: (u32, u32) = (900, 1_100);
/// Told apart by those who see no colours, too: the second is much lighter.
const COLORS: [RGBColor; 2] = [RGBColor(0, 70, 140), RGBColor(230, 140, 30)];

type Of = fn(&Sample) -> f64;

const ROWS: [(&str, Of); 5] = [
    ("CPU, cores", |sample| sample.cores),
    ("memory, MB", |sample| sample.memory_mb),
    ("network (loopback), MB/s", |sample| sample.network_mb_per_s),
    ("VUs", |sample| sample.vus),
    ("requests/s", |sample| sample.requests_per_s),
];

/// Draws it.
pub(super) fn svg(title: &str, runs: &[&Ran]) -> Result<String> {
    let mut text = String::new();
    draw(&mut text, title, runs).map_err(|error| anyhow!("cannot draw a chart: {error}"))?;
    Ok(text)
}

fn draw(text: &mut String, title: &str, runs: &[&Ran]) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::with_string(text, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let root = root.titled(title, ("sans-serif", 22).into_font())?;
    let end = runs.iter().flat_map(|run| &run.samples).map(|sample| sample.at_s).fold(1.0, f64::max);
    for (area, (name, of)) in root.split_evenly((ROWS.len(), 1)).iter().zip(ROWS) {
        let most = runs.iter().flat_map(|run| &run.samples).map(of).fold(0.0, f64::max);
        let mut chart = ChartBuilder::on(area)
            .caption(name, ("sans-serif", 16))
            .margin(6)
            .x_label_area_size(24)
            .y_label_area_size(64)
            .build_cartesian_2d(0.0..end, 0.0..(most * 1.1).max(1e-3))?;
        chart.configure_mesh().x_labels(10).y_labels(5).light_line_style(WHITE).draw()?;
        for (run, color) in runs.iter().zip(COLORS) {
            let line = run.samples.iter().map(|sample| (sample.at_s, of(sample)));
            chart
                .draw_series(LineSeries::new(line, color.stroke_width(2)))?
                .label(run.client.name())
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color.stroke_width(2)));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.3))
            .draw()?;
    }
    root.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hardware::{Client, LOADS};

    #[test]
    fn every_run_has_a_line_in_every_row() {
        let run = |client: Client| Ran {
            load: &LOADS[0],
            vus: 10,
            client,
            samples: (1..20)
                .map(|second| Sample { at_s: f64::from(second), cores: 0.5, ..Sample::default() })
                .collect(),
        };
        let runs = [run(Client::Onrush("onrush".into())), run(Client::K6("k6".into()))];
        let svg = svg("a title", &[&runs[0], &runs[1]]).expect("a chart");
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
        for text in ["a title", "CPU, cores", "memory, MB", "VUs", "requests/s", "Onrush", "k6"] {
            assert!(svg.contains(text), "{text}");
        }
        for color in ["#00468C", "#E68C1E"] {
            assert!(svg.matches(color).count() >= 2 * ROWS.len(), "{color}");
        }
    }
}
