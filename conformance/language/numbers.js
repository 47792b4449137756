// Numbers: arithmetic, conversions, formats.
// env: TZ=UTC
// files: expressions.js
// written: out.txt
import { report } from './expressions.js';
const cases = [
  String.raw`0.1 + 0.2`,
  String.raw`1 / 3`,
  String.raw`100 / 3`,
  String.raw`5e-324`,
  String.raw`1.7976931348623157e308`,
  String.raw`1e21`,
  String.raw`123456789012345680000`,
  String.raw`0.000001`,
  String.raw`0.0000001`,
  String.raw`-0`,
  String.raw`String(-0)`,
  String.raw`(-1) >>> 0`,
  String.raw`1 << 31`,
  String.raw`-5 % 3`,
  String.raw`2 ** -1074`,
  String.raw`(0.1).toFixed(20)`,
  String.raw`(1e21).toFixed(2)`,
  String.raw`(1.005).toFixed(2)`,
  String.raw`(123.456).toPrecision(4)`,
  String.raw`(255).toString(16)`,
  String.raw`(0.1).toString(2)`,
  String.raw`(1234567.891).toLocaleString()`,
  String.raw`(1).toString(1)`,
  String.raw`(1).toFixed(101)`,
  String.raw`parseInt('0x1f')`,
  String.raw`parseInt('1e3')`,
  String.raw`parseInt('12px', 10)`,
  String.raw`parseFloat('1e3x')`,
  String.raw`Number('')`,
  String.raw`Number(' 12 ')`,
  String.raw`Number('0b101')`,
  String.raw`Number('1_000')`,
  String.raw`1_000_000`,
  String.raw`0o17`,
  String.raw`Math.round(-0.5)`,
  String.raw`Math.round(2.5)`,
  String.raw`Math.hypot(3, 4)`,
  String.raw`Math.fround(5.5)`,
  String.raw`Math.clz32(1)`,
  String.raw`Math.imul(3, 4)`,
  String.raw`Math.log2(8)`,
  String.raw`Math.expm1(1e-10)`,
  String.raw`Number.MAX_SAFE_INTEGER + 2`,
  String.raw`isNaN('x')`,
  String.raw`Number.isInteger(5.0)`,
  String.raw`10n ** 20n`,
  String.raw`2n ** 64n`,
  String.raw`-5n % 3n`,
  String.raw`5n / 2n`,
  String.raw`BigInt.asUintN(8, 257n)`,
  String.raw`BigInt(1.5)`,
  String.raw`1n + 1`,
  String.raw`JSON.stringify({ a: 1n })`,
  String.raw`new Uint8Array([256, -1]).join()`,
  String.raw`new Float32Array([1.1])[0]`,
  String.raw`new BigInt64Array(1)[0]`,
];

export default function () {}

export function handleSummary() {
  return { 'out.txt': report(cases) };
}
