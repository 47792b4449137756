// The histogram over time as a grid: which cells there are, how many values each holds. Pure; `heatmap.tsx` paints it.

import { upperBound } from "../metrics/bucket.ts";
import type { Fold } from "../metrics/fold.ts";
import type { Point } from "../store/query.ts";

/** Buckets of the finest row: 32 rows an octave. */
const FINE = 8;
export const ROWS_MAX = 56;

/** A point's values by fine rows; row `r` covers buckets 8r+1 to 8r+8. */
export interface FineColumn {
  rows: Int32Array;
  counts: Float64Array;
  /** Values that are not above zero. */
  below: number;
}

export interface HeatColumn {
  fromMs: number;
  untilMs: number;
  seconds: number;
  /** By row, from the lowest. */
  counts: Float64Array;
  total: number;
}

export interface Heat {
  columns: HeatColumn[];
  rows: number;
  /** Row `r` has values above `bounds[r]`, up to and with `bounds[r + 1]`. */
  bounds: number[];
  /** The largest and the smallest count per second of time in a cell that is not empty. */
  densest: number;
  sparsest: number;
  hasZeros: boolean;
}

export function fineColumn(fold: Fold): FineColumn {
  const rows: number[] = [];
  const counts: number[] = [];
  let below = 0;
  if (fold.kind === "trend") {
    const { histogram } = fold;
    const add = (index: number, count: number) => {
      const row = Math.ceil(index / FINE) - 1;
      const last = counts.length - 1;
      if (rows[last] === row) {
        counts[last] = (counts[last] ?? 0) + count;
      } else {
        rows.push(row);
        counts.push(count);
      }
    };
    below = histogram.count;
    histogram.eachIndex((index, count) => {
      add(index, count);
      below -= count;
    });
  }
  return { rows: Int32Array.from(rows), counts: Float64Array.from(counts), below };
}

/** Columns on one grid of rows, as fine as there is room for. */
export function heatOf(points: readonly Point<FineColumn>[]): Heat | null {
  let lowest = Number.POSITIVE_INFINITY;
  let highest = Number.NEGATIVE_INFINITY;
  let hasZeros = false;
  for (const { value } of points) {
    lowest = Math.min(lowest, value.rows[0] ?? lowest);
    highest = Math.max(highest, value.rows.at(-1) ?? highest);
    hasZeros ||= value.below > 0;
  }
  if (lowest > highest) {
    return null;
  }
  let merged = 1;
  while (Math.floor(highest / merged) - Math.floor(lowest / merged) + 1 > ROWS_MAX) {
    merged *= 2;
  }
  const zeroRows = hasZeros ? 1 : 0;
  const first = Math.floor(lowest / merged);
  const rows = Math.floor(highest / merged) - first + 1 + zeroRows;
  let densest = 0;
  let sparsest = Number.POSITIVE_INFINITY;
  const columns = points.map(({ fromMs, untilMs, seconds, value }): HeatColumn => {
    const counts = new Float64Array(rows);
    let total = value.below;
    if (hasZeros) {
      counts[0] = value.below;
    }
    for (const [place, fine] of value.rows.entries()) {
      const row = Math.floor(fine / merged) - first + zeroRows;
      const count = value.counts[place] ?? 0;
      counts[row] = (counts[row] ?? 0) + count;
      total += count;
    }
    for (const count of counts) {
      if (count > 0 && seconds > 0) {
        densest = Math.max(densest, count / seconds);
        sparsest = Math.min(sparsest, count / seconds);
      }
    }
    return { fromMs, untilMs, seconds, counts, total };
  });
  const bounds = Array.from({ length: rows + 1 - zeroRows }, (_, row) => upperBound((first + row) * merged * FINE));
  return { columns, rows, bounds: hasZeros ? [0, ...bounds] : bounds, densest, sparsest, hasZeros };
}

/** How strongly a cell is coloured, 0 to 1: by the logarithm, because a rare slow request matters as well. */
export function strength(count: number, seconds: number, { densest, sparsest }: Heat): number {
  if (count <= 0 || seconds <= 0 || densest <= 0) {
    return 0;
  }
  const least = sparsest;
  const share = densest === least ? 1 : Math.log(Math.max(count / seconds, least) / least) / Math.log(densest / least);
  return 0.08 + 0.92 * Math.min(Math.max(share, 0), 1);
}
