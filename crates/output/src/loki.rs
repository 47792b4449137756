//! Log lines to Grafana Loki.
