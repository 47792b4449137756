//! What is compared where nobody names it.

use onrush_analysis::compare::{Direction, Measure, Statistic};

/// Any: the same runs give the same words.
pub(super) const SEED: u64 = 1;

/// The measures of builtin metrics that are looked at where there are such samples.
pub(super) fn usual() -> Vec<Measure> {
    let measure = |metric: &str, statistic, direction| Measure { metric: metric.to_owned(), statistic, direction };
    let times = |metric| [0.5, 0.95, 0.99].map(|q| measure(metric, Statistic::Quantile(q), Direction::Lower));
    let mut measures = times("http_req_duration").to_vec();
    measures.push(measure("http_req_failed", Statistic::Share, Direction::Lower));
    measures.push(measure("http_reqs", Statistic::PerSecond, Direction::Higher));
    measures.extend(times("grpc_req_duration"));
    measures.push(measure("checks", Statistic::Share, Direction::Higher));
    measures.push(measure("iteration_duration", Statistic::Quantile(0.5), Direction::Lower));
    measures.push(measure("iterations", Statistic::PerSecond, Direction::Higher));
    measures
}
