import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { TrendFold } from "../../src/metrics/fold.ts";
import { Histogram } from "../../src/metrics/histogram.ts";
import { addCell, CellWriter } from "../../src/store/cells.ts";
import { generator, percentileOf } from "../fixture/run.ts";

interface Vector {
  name: string;
  parts: unknown[];
  count: number;
  sum: number;
  min: number;
  max: number;
  shares: number[];
  quantiles: number[];
}

/** Written by a test of `crates/metrics`: what the program's own histogram says. */
const vectors = JSON.parse(readFileSync(new URL("../vectors.json", import.meta.url), "utf8")) as Vector[];

describe("the program's histogram and this one say the same", () => {
  expect(vectors.length).toBeGreaterThan(5);
  test.each(vectors)("$name", ({ parts, count, sum, min, max, shares, quantiles }) => {
    const histogram = new Histogram();
    for (const part of parts) {
      histogram.merge(read(part));
    }
    expect(histogram.count).toBe(count);
    expect(histogram.smallest).toBe(min);
    expect(histogram.largest).toBe(max);
    expect(histogram.quantiles(shares)).toEqual(quantiles);
    // The program's sum is exact and rounded once; ours adds rounded sums of parts.
    expect(Math.abs(histogram.sum - sum)).toBeLessThanOrEqual(Math.abs(sum) * 1e-15);
  });
});

test("a histogram is the same however its values came", () => {
  const random = generator(3);
  for (let round = 0; round < 40; round++) {
    const values = Array.from(
      { length: Math.floor(random() * 200) },
      () => (random() < 0.1 ? 0 : random() < 0.1 ? -1 : 1) * 10 ** (random() * 8 - 4),
    );
    const whole = of(values);
    const cut = Math.floor(random() * values.length);
    const parts = new Histogram();
    parts.merge(of(values.slice(cut)));
    parts.merge(of(values.slice(0, cut)));
    const again = stored(whole);
    for (const other of [parts, again]) {
      expect(other.count).toBe(whole.count);
      expect(other.quantiles([0, 0.5, 0.9, 0.95, 0.99, 1])).toEqual(whole.quantiles([0, 0.5, 0.9, 0.95, 0.99, 1]));
      expect(other.sum).toBeCloseTo(whole.sum, 6);
    }
  }
});

test("percentiles of single values are exact up to 64, and within 0.14 % beyond", () => {
  const random = generator(5);
  for (const length of [1, 2, 63, 64, 65, 1_000]) {
    const values = Array.from({ length }, () => 10 ** (random() * 3));
    const histogram = of(values);
    for (const q of [0, 0.25, 0.5, 0.9, 0.95, 0.999, 1]) {
      const truth = percentileOf(values, q);
      expect(Math.abs(histogram.quantile(q) / truth - 1)).toBeLessThanOrEqual(length <= 64 ? 1e-12 : 0.001_4);
    }
  }
});

test("nothing, infinities, and shares out of range", () => {
  expect(new Histogram().quantile(0.5)).toBe(0);
  const histogram = of([1, 2, 3]);
  expect(histogram.quantile(-1)).toBe(1);
  expect(histogram.quantile(2)).toBe(3);
  const endless = of([1, Number.POSITIVE_INFINITY]);
  expect(endless.quantile(1)).toBe(Number.POSITIVE_INFINITY);
  expect(endless.quantile(0.5)).toBe(Number.POSITIVE_INFINITY);
});

test("buckets that do not add up are refused", () => {
  const writer = new CellWriter();
  const good = { n: 70, s: 700, a: 10, z: 10, o: 0, p: [851, 70] };
  expect(writer.writeValue("trend", good)).toBe(true);
  for (const bad of [
    { ...good, n: 71 },
    { ...good, p: [851, 71] },
    { ...good, p: [851] },
    { ...good, p: [1e9, 70] },
    { ...good, p: [851, 35, 0, 35] },
    { ...good, p: [851, 35, -3, 35] },
    { ...good, n: -1 },
    { ...good, n: 1.5 },
    { ...good, s: "x" },
    { n: 2, s: 3, a: 1, z: 2, v: [1] },
    { n: 65, s: 65, a: 1, z: 1, v: new Array(65).fill(1) },
    null,
    17,
    [],
  ]) {
    const { length } = writer;
    expect(writer.writeValue("trend", bad), JSON.stringify(bad)).toBe(false);
    expect(writer.length).toBe(length);
  }
  expect(writer.writeValue("rate", [1])).toBe(false);
  expect(writer.writeValue("gauge", [1, 2, "3"])).toBe(false);
  expect(writer.writeValue("counter", null)).toBe(false);
});

function of(values: number[]): Histogram {
  const histogram = new Histogram();
  for (const value of values) {
    histogram.begin(1, value, value, value);
    histogram.addValue(value);
  }
  return histogram;
}

function read(value: unknown): Histogram {
  const writer = new CellWriter();
  expect(writer.writeValue("trend", value)).toBe(true);
  const fold = new TrendFold();
  addCell(writer.taken(), 0, fold);
  return fold.histogram;
}

function stored(histogram: Histogram): Histogram {
  const writer = new CellWriter();
  const fold = new TrendFold();
  fold.histogram.merge(histogram);
  writer.writeFold(fold);
  const again = new TrendFold();
  if (histogram.count > 0) {
    addCell(writer.taken(), 0, again);
  }
  return again.histogram;
}
