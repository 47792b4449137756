// What a series measured in one step, as bytes: some 60 bytes for a trend instead of kilobytes of objects.
//
// Counter: a double. Gauge: three. Rate: two. Trend: a flag, the count, three doubles, then its values or its buckets, indices
// and counts as numbers of seven bits a byte, as in Protocol Buffers.

import type { Fold, Kind } from "../metrics/fold.ts";
import { EXACT_VALUES_MAX, type Histogram } from "../metrics/histogram.ts";

const VALUES = 0;
const BUCKETS = 1;
/** A bucket's index is within 1,100 octaves of 256; a stream that says otherwise is refused. */
const INDEX_MAX = 1_100 * 256;

export class CellWriter {
  private bytes = new Uint8Array(4_096);
  private view = new DataView(this.bytes.buffer);
  length = 0;

  reset(): void {
    this.length = 0;
  }

  /** A copy, exactly as long as what was written. */
  taken(): Uint8Array<ArrayBuffer> {
    return this.bytes.slice(0, this.length);
  }

  /** Writes a value as the stream has it; false (and nothing written) if it is none of this kind. */
  writeValue(kind: Kind, value: unknown): boolean {
    const start = this.length;
    const isWritten = this.tryValue(kind, value);
    if (!isWritten) {
      this.length = start;
    }
    return isWritten;
  }

  writeFold(fold: Fold): void {
    switch (fold.kind) {
      case "counter":
        this.double(fold.total);
        break;
      case "gauge":
        this.double(fold.last);
        this.double(fold.min);
        this.double(fold.max);
        break;
      case "rate":
        this.double(fold.hits);
        this.double(fold.total);
        break;
      case "trend":
        this.trend(fold.histogram);
        break;
    }
  }

  private tryValue(kind: Kind, value: unknown): boolean {
    switch (kind) {
      case "counter":
        return this.doubles([value], 1);
      case "gauge":
        return this.doubles(value, 3);
      case "rate":
        return this.doubles(value, 2);
      case "trend":
        return this.trendValue(value);
    }
  }

  private trendValue(value: unknown): boolean {
    if (typeof value !== "object" || value === null) {
      return false;
    }
    const { n, s, a, z, v, o, p, m } = value as Record<string, unknown>;
    if (!isCount(n) || n === 0) {
      return false;
    }
    this.byte(Array.isArray(v) ? VALUES : BUCKETS);
    this.number(n);
    if (!this.doubles([s, a, z], 3)) {
      return false;
    }
    if (Array.isArray(v)) {
      return v.length === n && n <= EXACT_VALUES_MAX && this.doubles(v, v.length);
    }
    const zeros = o ?? 0;
    if (!isCount(zeros)) {
      return false;
    }
    this.number(zeros);
    const positive = this.pairs(p);
    const negative = this.pairs(m);
    // Buckets that do not add up would give percentiles of something else.
    return positive !== null && negative !== null && zeros + positive + negative === n;
  }

  /** A flat list of distances and counts; gives the sum of the counts. */
  private pairs(list: unknown): number | null {
    if (list === undefined || list === null) {
      this.number(0);
      return 0;
    }
    if (!Array.isArray(list) || list.length % 2 !== 0) {
      return null;
    }
    this.number(list.length / 2);
    let index = 0;
    let sum = 0;
    for (let place = 0; place < list.length; place += 2) {
      const distance: unknown = list[place];
      const count: unknown = list[place + 1];
      if (typeof distance !== "number" || !Number.isInteger(distance) || !isCount(count)) {
        return null;
      }
      index += distance;
      if (Math.abs(index) > INDEX_MAX || (place > 0 && distance <= 0)) {
        return null;
      }
      this.number(place === 0 ? zigzag(distance) : distance);
      this.number(count);
      sum += count;
    }
    return sum;
  }

  private trend(histogram: Histogram): void {
    this.byte(histogram.isBucketed ? BUCKETS : VALUES);
    this.number(histogram.count);
    this.double(histogram.sum);
    this.double(histogram.min);
    this.double(histogram.max);
    if (!histogram.isBucketed) {
      for (const value of histogram.values) {
        this.double(value);
      }
      return;
    }
    this.number(histogram.zeros);
    for (const counts of [histogram.positive, histogram.negative]) {
      let length = 0;
      counts.each(() => {
        length += 1;
        return undefined;
      });
      this.number(length);
      let before: number | null = null;
      counts.each((index, count) => {
        this.number(before === null ? zigzag(index) : index - before);
        this.number(count);
        before = index;
        return undefined;
      });
    }
  }

  private doubles(list: unknown, length: number): boolean {
    if (!Array.isArray(list) || list.length !== length) {
      return false;
    }
    for (const value of list) {
      if (typeof value !== "number") {
        return false;
      }
      this.double(value);
    }
    return true;
  }

  private byte(value: number): void {
    this.reserve(1);
    this.bytes[this.length++] = value;
  }

  private double(value: number): void {
    this.reserve(8);
    this.view.setFloat64(this.length, value);
    this.length += 8;
  }

  private number(value: number): void {
    this.reserve(8);
    let rest = value;
    while (rest >= 128) {
      this.bytes[this.length++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    this.bytes[this.length++] = rest;
  }

  private reserve(more: number): void {
    if (this.length + more <= this.bytes.length) {
      return;
    }
    const larger = new Uint8Array(this.bytes.length * 2);
    larger.set(this.bytes);
    this.bytes = larger;
    this.view = new DataView(larger.buffer);
  }
}

/** Adds what is in a cell to a fold of its kind. */
export function addCell(bytes: Uint8Array<ArrayBuffer>, offset: number, fold: Fold): void {
  const reader = new Reader(bytes, offset);
  switch (fold.kind) {
    case "counter":
      fold.add(reader.double());
      break;
    case "gauge":
      fold.add(reader.double(), reader.double(), reader.double());
      break;
    case "rate":
      fold.add(reader.double(), reader.double());
      break;
    case "trend":
      addTrend(reader, fold.histogram);
      break;
  }
}

function addTrend(reader: Reader, histogram: Histogram): void {
  const flag = reader.byte();
  const count = reader.number();
  histogram.begin(count, reader.double(), reader.double(), reader.double());
  if (flag === VALUES) {
    for (let place = 0; place < count; place++) {
      histogram.addValue(reader.double());
    }
    return;
  }
  histogram.addZeros(reader.number());
  for (const isNegative of [false, true]) {
    let index = 0;
    for (let left = reader.number(), isFirst = true; left > 0; left--, isFirst = false) {
      const distance = reader.number();
      index = isFirst ? unzigzag(distance) : index + distance;
      histogram.addBuckets(isNegative, index, reader.number());
    }
  }
}

class Reader {
  private readonly view: DataView;

  constructor(
    private readonly bytes: Uint8Array<ArrayBuffer>,
    private offset: number,
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  byte(): number {
    return this.bytes[this.offset++] ?? 0;
  }

  double(): number {
    const value = this.view.getFloat64(this.offset);
    this.offset += 8;
    return value;
  }

  number(): number {
    let byte = this.byte();
    let value = byte & 127;
    let weight = 128;
    while (byte >= 128) {
      byte = this.byte();
      value += (byte & 127) * weight;
      weight *= 128;
    }
    return value;
  }
}

function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

function unzigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
