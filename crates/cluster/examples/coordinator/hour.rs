//! An hour of a run in as long as it takes: whether a coordinator's memory grows.

use std::{error::Error, time::Instant};

use onrush_metrics::{Delta, Registry, Span};
use onrush_session::{
    Coordinator, Settings,
    protocol::{AgentId, Report, ThreadDelta, Time},
};

use crate::{
    process,
    website::{self, Random},
};

const HOUR: u64 = 3_600;
/// Until every series and every bucket of its histograms is there.
const WARM_UP: u64 = 300;
const SECONDS: u64 = 16;

pub(crate) fn run(agents: u32, threads: u32) -> Result<(), Box<dyn Error>> {
    let registry = Registry::new();
    let settings = Settings { evaluates_thresholds: true, ..Settings::default() };
    let ids = (0..agents).map(AgentId);
    let thresholds = website::thresholds(&registry);
    let mut coordinator = Coordinator::new(settings, ids, &website::plan(agents), &registry, thresholds);
    coordinator.start(b"test", Time(0));
    for agent in (0..agents).map(AgentId) {
        coordinator.handle(agent, Report::Accepted(Box::new(website::accepted(&registry, threads))), Time(0));
        coordinator.handle(agent, Report::Ready, Time(0));
    }
    coordinator.handle(AgentId(0), Report::Started { at: Time(0) }, Time(0));
    let mut random = Random(1);
    let deltas: Vec<Delta> = (0..SECONDS).map(|_| website::delta(&registry, &mut random)).collect();
    let began = Instant::now();
    let mut warm = 0;
    for second in 1..=HOUR {
        let (from_ns, until_ns) = ((second - 1) * 1_000_000_000, second * 1_000_000_000);
        for agent in 0..agents {
            for thread in 0..threads {
                let mut delta = deltas[((u64::from(agent * 7 + thread) + second) % SECONDS) as usize].clone();
                if thread == 0 {
                    website::add_vus(&mut delta, second);
                }
                let part = ThreadDelta { thread, span: Some(Span { from_ns, until_ns }), delta, ended: vec![0] };
                coordinator.handle(AgentId(agent), Report::Delta(Box::new(part)), Time(until_ns));
            }
        }
        coordinator.tick(Time(until_ns));
        if second == WARM_UP {
            warm = process::rss_bytes();
        }
    }
    let took = began.elapsed().as_secs_f64();
    let count = HOUR * u64::from(agents * threads);
    println!(
        r#"{{"agents": {agents}, "threads": {threads}, "virtual_seconds": {HOUR}, "took_seconds": {took:.1}, "us_per_delta": {:.1}, "rss_mb_after_5_min": {:.1}, "rss_mb_at_end": {:.1}}}"#,
        took * 1e6 / count as f64,
        warm as f64 / f64::from(1 << 20),
        process::rss_bytes() as f64 / f64::from(1 << 20),
    );
    Ok(())
}
