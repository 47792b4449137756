// Rows of the tables: requests by a tag, checks, metrics. Pure; every number is a sum over exactly the series of its row.

import type { Fold } from "../metrics/fold.ts";
import { Histogram } from "../metrics/histogram.ts";
import type { Metric } from "../stream/records.ts";
import type { Query, Span, Tags } from "./query.ts";

export interface RequestRow {
  key: string;
  requests: number;
  perSecond: number;
  failed: number | null;
  mean: number;
  min: number;
  med: number;
  p90: number;
  p95: number;
  p99: number;
  max: number;
}

export interface CheckRow {
  key: string;
  group: string;
  passes: number;
  fails: number;
  share: number;
}

export interface Spread {
  count: number;
  mean: number;
  min: number;
  med: number;
  p90: number;
  p95: number;
  p99: number;
  max: number;
}

/** Length of a part of the run, in seconds; of all of it that of the test, as in the summary. */
export function secondsOf(query: Query, span: Span | null): number {
  return (span === null ? query.run.testMs : Math.max(span.untilMs - span.fromMs, 0)) / 1_000;
}

export function spread(fold: Fold | null): Spread {
  const histogram = fold?.kind === "trend" ? fold.histogram : new Histogram();
  const [med = 0, p90 = 0, p95 = 0, p99 = 0] = histogram.quantiles([0.5, 0.9, 0.95, 0.99]);
  return {
    count: histogram.count,
    mean: histogram.mean,
    min: histogram.smallest,
    med,
    p90,
    p95,
    p99,
    max: histogram.largest,
  };
}

export function counterTotal(fold: Fold | null): number {
  return fold?.kind === "counter" ? fold.total : 0;
}

/** Requests by a tag: how many, how many of them failed, how long they took. */
export function requestRows(query: Query, tag: string, span: Span | null, tags: Tags): RequestRow[] {
  const by = (metric: string) => query.groups(metric, (series) => series.tags[tag] ?? null, span, tags);
  const [numbers, failures, times] = [by("http_reqs"), by("http_req_failed"), by("http_req_duration")];
  const seconds = secondsOf(query, span);
  return [...new Set([...numbers.keys(), ...times.keys()])].map((key) => {
    const { mean, min, med, p90, p95, p99, max, count } = spread(times.get(key) ?? null);
    const failed = failures.get(key);
    const requests = numbers.has(key) ? counterTotal(numbers.get(key) ?? null) : count;
    return {
      key,
      requests,
      perSecond: seconds > 0 ? requests / seconds : 0,
      failed: failed?.kind === "rate" ? failed.share : null,
      mean,
      min,
      med,
      p90,
      p95,
      p99,
      max,
    };
  });
}

export function checkRows(query: Query, span: Span | null, tags: Tags): CheckRow[] {
  const folds = query.groups(
    "checks",
    ({ tags: has }) => (has.check === undefined ? null : JSON.stringify([has.group ?? "", has.check])),
    span,
    tags,
  );
  return [...folds].flatMap(([key, fold]) => {
    const [group, check] = JSON.parse(key) as [string, string];
    return fold.kind === "rate"
      ? [{ key: check, group, passes: fold.hits, fails: fold.total - fold.hits, share: fold.share }]
      : [];
  });
}

/** Metrics that have samples. */
export function metricsWithSamples(query: Query, wanted: (metric: Metric) => boolean): Metric[] {
  return (query.run.head?.metrics ?? []).filter(
    (metric) => wanted(metric) && query.run.seriesOf(metric.name).length > 0 && query.fold(metric.name)?.isEmpty === false,
  );
}

/** Trends in the order in which people ask for them. */
export function mainTrend(query: Query): string | null {
  const run = query.run;
  const hasSeries = (name: string) => run.seriesOf(name).length > 0;
  const trends = (run.head?.metrics ?? []).filter((metric) => metric.kind === "trend").map((metric) => metric.name);
  return [...MAIN_TRENDS, ...trends].find(hasSeries) ?? null;
}

export const MAIN_TRENDS = ["http_req_duration", "grpc_req_duration", "ws_session_duration", "iteration_duration"];

/** The phases of a request, in the order in which they happen. */
export const PHASES = [
  ["http_req_blocked", "waiting for a connection"],
  ["http_req_connecting", "connecting"],
  ["http_req_tls_handshaking", "TLS handshake"],
  ["http_req_sending", "sending"],
  ["http_req_waiting", "waiting for the response"],
  ["http_req_receiving", "receiving"],
] as const;
