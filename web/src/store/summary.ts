// A summary that k6 or Onrush exported, as its report holds it: read with distrust, as everything that comes from elsewhere.

import { isObject, strings, type ThresholdState, type Verdict, verdict } from "../stream/records.ts";

export interface Summary {
  metrics: SummaryMetric[];
  thresholds: ThresholdState[];
  checks: SummaryCheck[];
  /** How long the run took, where the summary says it or its rates do. */
  durationMs: number | null;
  verdict: Verdict | null;
  reasons: string[];
  notes: string[];
}

export interface SummaryMetric {
  name: string;
  /** Statistics by the names they have there. */
  values: [string, number][];
  /** Its values are shares: of a rate. */
  isShare: boolean;
}

export interface SummaryCheck {
  name: string;
  group: string;
  passes: number;
  fails: number;
}

/** Groups within groups; deeper ones are left out. */
const DEPTH_MAX = 100;

export function readSummary(data: Record<string, unknown>): Summary {
  const rows = Object.entries(isObject(data.metrics) ? data.metrics : {});
  const metrics = rows.map(([name, metric]) => metricOf(name, isObject(metric) ? metric : {}));
  const thresholds = rows.flatMap(([name, metric]) => thresholdsOf(name, isObject(metric) ? metric : {}));
  const checks: SummaryCheck[] = [];
  addChecks(checks, data.root_group, "", 0);
  const measurement = isObject(data.measurement) ? data.measurement : {};
  const said = isObject(data.state) ? data.state.testRunDurationMs : null;
  return {
    metrics,
    thresholds,
    checks,
    durationMs: typeof said === "number" && Number.isFinite(said) ? said : durationOf(metrics),
    verdict: verdict(measurement.verdict),
    reasons: strings(measurement.reasons),
    notes: strings(measurement.notes),
  };
}

function metricOf(name: string, metric: Record<string, unknown>): SummaryMetric {
  const holder = isObject(metric.values) ? metric.values : metric;
  const values = Object.entries(holder).filter((pair): pair is [string, number] => typeof pair[1] === "number");
  return { name, values, isShare: "passes" in holder && "fails" in holder };
}

function thresholdsOf(metric: string, { thresholds }: Record<string, unknown>): ThresholdState[] {
  return Object.entries(isObject(thresholds) ? thresholds : {}).map(([source, result]) => ({
    metric,
    source,
    // In what is exported `true` says that it failed.
    isOk: isObject(result) ? result.ok === true : result === false,
    isJudged: true,
    value: null,
  }));
}

/** The checks of a group, and of those in it; both are lists or objects by name. */
function addChecks(checks: SummaryCheck[], group: unknown, path: string, depth: number): void {
  if (!isObject(group) || depth > DEPTH_MAX) {
    return;
  }
  for (const check of members(group.checks)) {
    const [name, passes, fails] = [check.name, check.passes, check.fails];
    if (typeof name === "string" && typeof passes === "number" && typeof fails === "number") {
      checks.push({ name, group: path, passes, fails });
    }
  }
  for (const inner of members(group.groups)) {
    addChecks(checks, inner, `${path}::${typeof inner.name === "string" ? inner.name : ""}`, depth + 1);
  }
}

function members(list: unknown): Record<string, unknown>[] {
  const all = Array.isArray(list) ? list : Object.values(isObject(list) ? list : {});
  return all.filter(isObject);
}

/** A counter and its rate per second say how long it took; the largest says it best. */
function durationOf(metrics: readonly SummaryMetric[]): number | null {
  let [most, ms]: [number, number | null] = [0, null];
  for (const { values, isShare } of metrics) {
    const { count = 0, rate = 0 } = Object.fromEntries(values);
    if (!isShare && count > most && rate > 0) {
      [most, ms] = [count, (count / rate) * 1_000];
    }
  }
  return ms;
}
