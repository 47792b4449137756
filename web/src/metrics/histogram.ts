// A distribution that merges exactly, with the summary's own rules for percentiles.
//
// Up to 64 values are kept as they are; more are counted in buckets of base 2^(1/256). Whether a histogram is exact depends
// only on its count, and so does the result of a merge. Percentiles: linear interpolation between the order statistics around
// q * (n - 1), smallest and largest value exact. `web/test/vectors.json`, which a test of `crates/metrics` writes, holds this
// file to what the program computes.

import { indexOf, LARGEST, representative, upperBound } from "./bucket.ts";
import { Counts } from "./counts.ts";

/** Up to this many values a histogram keeps them all. */
export const EXACT_VALUES_MAX = 64;

export class Histogram {
  count = 0;
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;
  zeros = 0;
  isBucketed = false;
  values: number[] = [];
  readonly positive = new Counts();
  /** By magnitude. */
  readonly negative = new Counts();
  private sumHigh = 0;
  /** What `sumHigh` was rounded by (Neumaier). */
  private sumLow = 0;

  get sum(): number {
    const sum = this.sumHigh + this.sumLow;
    return Number.isNaN(sum) ? this.sumHigh : sum;
  }

  /** The average; 0 if there is no value, as in the summary. */
  get mean(): number {
    return this.count === 0 ? 0 : this.sum / this.count;
  }

  get smallest(): number {
    return this.count === 0 ? 0 : this.min;
  }

  get largest(): number {
    return this.count === 0 ? 0 : this.max;
  }

  clear(): void {
    this.count = 0;
    this.min = Number.POSITIVE_INFINITY;
    this.max = Number.NEGATIVE_INFINITY;
    this.zeros = 0;
    this.isBucketed = false;
    this.values = [];
    this.positive.clear();
    this.negative.clear();
    this.sumHigh = 0;
    this.sumLow = 0;
  }

  /** First part of adding what was folded elsewhere: count, sum and ends. The values or buckets follow. */
  begin(count: number, sum: number, min: number, max: number): void {
    this.count += count;
    this.addSum(sum);
    this.min = Math.min(this.min, min);
    this.max = Math.max(this.max, max);
    if (this.count > EXACT_VALUES_MAX) {
      this.useBuckets();
    }
  }

  /** A value of what `begin` announced. */
  addValue(value: number): void {
    if (this.isBucketed) {
      this.countValue(value);
    } else {
      this.values.push(value);
    }
  }

  /** Values in buckets, of what `begin` announced; only a histogram of more than 64 values has them. */
  addBuckets(isNegative: boolean, index: number, count: number): void {
    this.useBuckets();
    (isNegative ? this.negative : this.positive).add(index, count);
  }

  addZeros(count: number): void {
    this.useBuckets();
    this.zeros += count;
  }

  merge(other: Histogram): void {
    if (other.count === 0) {
      return;
    }
    this.begin(other.count, other.sumHigh, other.min, other.max);
    this.addSum(other.sumLow);
    if (other.isBucketed) {
      this.addZeros(other.zeros);
      this.positive.merge(other.positive);
      this.negative.merge(other.negative);
    } else {
      for (const value of other.values) {
        this.addValue(value);
      }
    }
  }

  /** The value at a share `q` (0 to 1) of the sorted values; 0 if there is none. */
  quantile(q: number): number {
    return this.quantiles([q])[0] ?? 0;
  }

  /** Several at once, in one walk over the buckets; `shares` must rise. */
  quantiles(shares: readonly number[]): number[] {
    if (this.count === 0) {
      return shares.map(() => 0);
    }
    const last = this.count - 1;
    const positions = shares.map((q) => Math.min(Math.max(q, 0), 1) * last);
    const ranks = positions.flatMap((position) => [Math.floor(position), Math.min(Math.floor(position) + 1, last)]);
    const values = this.orderStatistics(ranks);
    return positions.map((position, place) => {
      const fraction = position - Math.floor(position);
      const lower = values[2 * place] ?? 0;
      const upper = values[2 * place + 1] ?? 0;
      // Between a number and infinity there is nothing to interpolate.
      return fraction > 0 && lower < upper && Number.isFinite(lower) ? lower + (upper - lower) * fraction : lower;
    });
  }

  /** The buckets in rising order of their values: `inner` is the end towards zero, `outer` the inclusive one away from it. */
  eachBucket(visit: (inner: number, outer: number, count: number) => void): void {
    if (!this.isBucketed) {
      const counted = new Histogram();
      counted.merge(this);
      counted.useBuckets();
      counted.eachBucket(visit);
      return;
    }
    this.negative.each((index, count) => {
      visit(-upperBound(index - 1), -upperBound(index), count);
      return undefined;
    }, true);
    if (this.zeros > 0) {
      visit(0, 0, this.zeros);
    }
    this.positive.each((index, count) => {
      visit(upperBound(index - 1), upperBound(index), count);
      return undefined;
    });
  }

  /** Buckets of positive values with their indices, rising. */
  eachIndex(visit: (index: number, count: number) => void): void {
    if (this.isBucketed) {
      this.positive.each((index, count) => {
        visit(index, count);
        return undefined;
      });
      return;
    }
    for (const value of [...this.values].sort((a, b) => a - b)) {
      if (value > 0) {
        visit(indexOf(value), 1);
      }
    }
  }

  private addSum(value: number): void {
    const sum = this.sumHigh + value;
    const small = Math.abs(this.sumHigh) >= Math.abs(value) ? this.sumHigh - sum + value : value - sum + this.sumHigh;
    this.sumHigh = sum;
    this.sumLow += Number.isNaN(small) ? 0 : small;
  }

  private useBuckets(): void {
    if (this.isBucketed) {
      return;
    }
    this.isBucketed = true;
    const values = this.values;
    this.values = [];
    for (const value of values) {
      this.countValue(value);
    }
  }

  private countValue(value: number): void {
    if (value > 0) {
      this.positive.add(indexOf(value), 1);
    } else if (value < 0) {
      this.negative.add(indexOf(-value), 1);
    } else {
      this.zeros += 1;
    }
  }

  /** The values at rising ranks, counted from 0. */
  private orderStatistics(ranks: number[]): number[] {
    if (!this.isBucketed) {
      const sorted = Float64Array.from(this.values).sort();
      return ranks.map((rank) => sorted[rank] ?? this.max);
    }
    const found: number[] = new Array(ranks.length).fill(this.max);
    // Two ranks of neighbouring percentiles may overlap: walk them in order.
    const order = ranks.map((_, place) => place).sort((a, b) => (ranks[a] ?? 0) - (ranks[b] ?? 0));
    let next = 0;
    let below = 0;
    const take = (value: number, count: number): boolean => {
      below += count;
      for (let place = order[next]; place !== undefined && (ranks[place] ?? 0) < below; place = order[next]) {
        found[place] = this.atRank(ranks[place] ?? 0, value);
        next += 1;
      }
      return next === order.length;
    };
    this.negative.each((index, count) => take(-representative(index), count), true);
    if (next < order.length && this.zeros > 0) {
      take(0, this.zeros);
    }
    if (next < order.length) {
      this.positive.each((index, count) => take(representative(index), count));
    }
    return found;
  }

  /** The first and the last rank are known exactly. */
  private atRank(rank: number, middle: number): number {
    if (rank === 0) {
      return this.min;
    }
    if (rank === this.count - 1) {
      return this.max;
    }
    // The outermost bucket may hold infinities and the largest numbers: all of them count as what is more usual.
    if (middle >= LARGEST && this.max === Number.POSITIVE_INFINITY) {
      return this.max;
    }
    if (middle <= -LARGEST && this.min === Number.NEGATIVE_INFINITY) {
      return this.min;
    }
    return Math.min(Math.max(middle, this.min), this.max);
  }
}
