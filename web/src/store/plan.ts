// The planned load over time.

import type { Scenario } from "../stream/records.ts";
import type { Tags } from "./query.ts";

/** What a scenario's plan asks for at a moment; `null` outside of it. */
export function plannedAt(scenario: Scenario, atMs: number): number | null {
  const points = scenario.planned;
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || atMs < first[0] || atMs > last[0]) {
    return null;
  }
  let before = first;
  for (const point of points) {
    if (point[0] > atMs) {
      const part = (atMs - before[0]) / (point[0] - before[0]);
      return before[1] + (point[1] - before[1]) * part;
    }
    before = point;
  }
  return last[1];
}

/**
 * The scenarios whose plans together are what a chart of VUs, or of iterations, is to be compared with: those that are left by the
 * filter. `null` where one of them plans something else, or nothing: the rest would look like too much load.
 */
export function comparable(scenarios: readonly Scenario[], isRate: boolean, tags: Tags): readonly Scenario[] | null {
  const left = scenarios.filter(({ name }) => tags.scenario === undefined || tags.scenario === name);
  const isWhole = left.every((scenario) => scenario.isRate === isRate && scenario.planned.length > 0);
  return left.length > 0 && isWhole ? left : null;
}

/** Whether the scenarios plan VUs as well as iterations, so that neither chart has a plan to compare with. */
export function isMixed(scenarios: readonly Scenario[]): boolean {
  return scenarios.some((scenario) => scenario.isRate) && scenarios.some((scenario) => !scenario.isRate);
}

/** Of these scenarios together; `null` where none of them has a plan. */
export function plannedSum(scenarios: readonly Scenario[], atMs: number): number | null {
  let sum: number | null = null;
  for (const scenario of scenarios) {
    const planned = plannedAt(scenario, atMs);
    if (planned !== null) {
      sum = (sum ?? 0) + planned;
    }
  }
  return sum;
}
