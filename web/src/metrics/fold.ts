// What samples became, by the kind of their metric. A fold adds up others of its kind, in the order of time.

import { Histogram } from "./histogram.ts";

export type Kind = "counter" | "gauge" | "rate" | "trend";

export class CounterFold {
  readonly kind = "counter";
  sum = 0;
  private low = 0;

  /** Sums of many steps: what rounding lost is kept beside. */
  add(value: number): void {
    const sum = this.sum + value;
    this.low += Math.abs(this.sum) >= Math.abs(value) ? this.sum - sum + value : value - sum + this.sum;
    this.sum = sum;
  }

  get total(): number {
    const total = this.sum + this.low;
    return Number.isNaN(total) ? this.sum : total;
  }

  get isEmpty(): boolean {
    return this.sum === 0;
  }
}

export class GaugeFold {
  readonly kind = "gauge";
  last = 0;
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;

  add(last: number, min: number, max: number): void {
    this.last = last;
    this.min = Math.min(this.min, min);
    this.max = Math.max(this.max, max);
  }

  get isEmpty(): boolean {
    return this.min > this.max;
  }
}

export class RateFold {
  readonly kind = "rate";
  hits = 0;
  total = 0;

  add(hits: number, total: number): void {
    this.hits += hits;
    this.total += total;
  }

  get share(): number {
    return this.total === 0 ? 0 : this.hits / this.total;
  }

  get isEmpty(): boolean {
    return this.total === 0;
  }
}

export class TrendFold {
  readonly kind = "trend";
  readonly histogram = new Histogram();

  get isEmpty(): boolean {
    return this.histogram.count === 0;
  }
}

export type Fold = CounterFold | GaugeFold | RateFold | TrendFold;

export function emptyFold(kind: Kind): Fold {
  switch (kind) {
    case "counter":
      return new CounterFold();
    case "gauge":
      return new GaugeFold();
    case "rate":
      return new RateFold();
    case "trend":
      return new TrendFold();
  }
}

/** Adds a fold of the same kind; of another kind nothing. */
export function mergeFold(into: Fold, more: Fold): void {
  if (into.kind === "counter" && more.kind === "counter") {
    into.add(more.total);
  } else if (into.kind === "gauge" && more.kind === "gauge") {
    if (!more.isEmpty) {
      into.add(more.last, more.min, more.max);
    }
  } else if (into.kind === "rate" && more.kind === "rate") {
    into.add(more.hits, more.total);
  } else if (into.kind === "trend" && more.kind === "trend") {
    into.histogram.merge(more.histogram);
  }
}
