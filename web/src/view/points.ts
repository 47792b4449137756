// What all charts over time have in common.

import type { Point } from "../store/query.ts";

/** Points of a chart: more than a phone's pixels, and few enough that a second's update costs nothing. */
export const POINTS_MAX = 360;

/** Where points lie, in seconds of the run. */
export function middles(points: readonly Point<unknown>[]): number[] {
  return points.map((point) => (point.fromMs + point.untilMs) / 2_000);
}
