// The planned load over time.

import type { Scenario } from "../stream/records.ts";

/** What a scenario's plan asks for at a moment; `null` outside of it. */
export function plannedAt(scenario: Scenario, atMs: number): number | null {
  const at = atMs - scenario.startMs;
  const points = scenario.planned;
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || at < first[0] || at > last[0]) {
    return null;
  }
  let before = first;
  for (const point of points) {
    if (point[0] > at) {
      const part = (at - before[0]) / (point[0] - before[0]);
      return before[1] + (point[1] - before[1]) * part;
    }
    before = point;
  }
  return last[1];
}

/** Of all scenarios of a kind together; `null` where none of them has a plan. */
export function plannedSum(scenarios: readonly Scenario[], isRate: boolean, atMs: number): number | null {
  let sum: number | null = null;
  for (const scenario of scenarios) {
    const planned = scenario.isRate === isRate ? plannedAt(scenario, atMs) : null;
    if (planned !== null) {
      sum = (sum ?? 0) + planned;
    }
  }
  return sum;
}
