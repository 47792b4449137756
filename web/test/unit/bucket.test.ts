import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { indexOf, representative, upperBound } from "../../src/metrics/bucket.ts";
import { generator } from "../fixture/run.ts";

test("bounds are those of the program, to the bit", () => {
  const source = readFileSync(new URL("../../../crates/metrics/src/histogram/boundaries.rs", import.meta.url), "utf8");
  const mantissas = [...source.matchAll(/0x([0-9a-f]{13})/g)].map(([, digits]) => BigInt(`0x${digits}`));
  expect(mantissas).toHaveLength(256);
  const view = new DataView(new ArrayBuffer(8));
  for (const [sub, mantissa] of mantissas.entries()) {
    view.setFloat64(0, upperBound(sub));
    expect(view.getBigUint64(0) & ((1n << 52n) - 1n), `entry ${sub}`).toBe(mantissa);
  }
});

test("a bound is in its bucket, and what is above it in the next one", () => {
  const view = new DataView(new ArrayBuffer(8));
  for (let index = -1_022 * 256; index <= 1_023 * 256; index += 127) {
    const bound = upperBound(index);
    expect(indexOf(bound), `bound of ${index}`).toBe(index);
    view.setFloat64(0, bound);
    view.setBigUint64(0, view.getBigUint64(0) + 1n);
    expect(indexOf(view.getFloat64(0)), `above bound of ${index}`).toBe(index + 1);
  }
});

test("powers of two and extremes", () => {
  expect(indexOf(1)).toBe(0);
  expect(indexOf(2)).toBe(256);
  expect(indexOf(0.5)).toBe(-256);
  expect(indexOf(Number.MAX_VALUE)).toBe(1_024 * 256);
  expect(indexOf(Number.POSITIVE_INFINITY)).toBe(1_024 * 256);
  expect(indexOf(5e-324)).toBe(-1_074 * 256);
});

test("what stands for a bucket is close to every value in it", () => {
  const random = generator(7);
  for (let round = 0; round < 5_000; round++) {
    const value = 10 ** (random() * 18 - 9);
    expect(Math.abs(representative(indexOf(value)) / value - 1)).toBeLessThanOrEqual(0.001_355);
  }
});
