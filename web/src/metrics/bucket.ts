// Which bucket a value is in, and what stands for a bucket: the same, to the bit, as `crates/metrics/src/histogram`.
//
// Bucket `i` covers (2^((i-1)/256), 2^(i/256)]. No logarithm decides: a bound is the largest double that is not above its
// power, and a value is compared with the bounds.

export const PER_OCTAVE = 256;

/** A little below what stands for the last bucket. */
export const LARGEST = 1.793e308;

/** The bounds of one octave, 1 to 2 (inclusive), 257 of them. */
const bounds = new Float64Array(PER_OCTAVE + 1);
let areBoundsKnown = false;

/** The bucket of a positive value; infinity shares the last one. */
export function indexOf(magnitude: number): number {
  let value = Math.min(magnitude, Number.MAX_VALUE);
  let exponent = 0;
  if (value < SMALLEST_NORMAL) {
    // A subnormal times 2^64 is normal, and exact.
    value *= 2 ** 64;
    exponent = -64;
  }
  scratch.setFloat64(0, value);
  const high = scratch.getUint32(0);
  exponent += (high >>> 20) - EXPONENT_BIAS;
  scratch.setUint32(0, (high & 0xfffff) | (EXPONENT_BIAS << 20));
  return PER_OCTAVE * exponent + subBucket(scratch.getFloat64(0));
}

/** The largest value of a bucket. */
export function upperBound(index: number): number {
  const octave = Math.floor(index / PER_OCTAVE);
  return scale(octaveBounds()[index - octave * PER_OCTAVE] ?? 1, octave);
}

/** The geometric middle of a bucket, which stands for all its values. */
export function representative(index: number): number {
  const octave = Math.floor((index - 1) / PER_OCTAVE);
  const sub = index - 1 - octave * PER_OCTAVE;
  const known = octaveBounds();
  return scale(Math.sqrt((known[sub] ?? 1) * (known[sub + 1] ?? 2)), octave);
}

/** The first bound that is not below a value of [1, 2). */
function subBucket(significand: number): number {
  const known = octaveBounds();
  let low = 0;
  let high = PER_OCTAVE;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((known[middle] ?? 2) < significand) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/** `significand` * 2^`exponent`, through zero or infinity where the range ends. */
function scale(significand: number, exponent: number): number {
  const half = Math.trunc(exponent / 2);
  return significand * 2 ** half * 2 ** (exponent - half);
}

/**
 * Computed at first use, with whole numbers: `Math.pow` only makes the first guess, because engines round it differently.
 */
function octaveBounds(): Float64Array {
  if (areBoundsKnown) {
    return bounds;
  }
  for (let sub = 0; sub < PER_OCTAVE; sub++) {
    let significand = BigInt(Math.floor(2 ** (sub / PER_OCTAVE) * 2 ** 52));
    // significand / 2^52 <= 2^(sub/256) exactly if significand^256 <= 2^(sub + 52 * 256).
    const limit = 1n << BigInt(sub + 52 * PER_OCTAVE);
    while (significand ** 256n > limit) {
      significand -= 1n;
    }
    while ((significand + 1n) ** 256n <= limit) {
      significand += 1n;
    }
    bounds[sub] = Number(significand) / 2 ** 52;
  }
  bounds[PER_OCTAVE] = 2;
  areBoundsKnown = true;
  return bounds;
}

const EXPONENT_BIAS = 1023;
const SMALLEST_NORMAL = 2 ** -1022;
const scratch = new DataView(new ArrayBuffer(8));
