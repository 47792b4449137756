// Arrays, objects, maps, iteration.
// env: TZ=UTC
// files: expressions.js
// written: out.txt
import { report } from './expressions.js';
const cases = [
  String.raw`[10, 9, 1].sort()`,
  String.raw`[3, undefined, 1].sort()`,
  String.raw`[, 1].length`,
  String.raw`[1, [2, [3]]].flat(Infinity)`,
  String.raw`[1, 2, 3].at(-1)`,
  String.raw`[1, 2, 3].findLast((x) => x < 3)`,
  String.raw`[3, 1, 2].toSorted()`,
  String.raw`[3, 1, 2].toReversed()`,
  String.raw`[1, 2, 3].with(0, 9)`,
  String.raw`[1, 2, 3].copyWithin(0, 1)`,
  String.raw`Array.from({ length: 3 }, (_, i) => i * 2)`,
  String.raw`new Array(-1)`,
  String.raw`[].reduce((a, b) => a)`,
  String.raw`Object.keys({ b: 1, a: 2, 1: 3, 0: 4 })`,
  String.raw`Object.fromEntries([['a', 1]])`,
  String.raw`Object.freeze([1]).push(2)`,
  String.raw`Reflect.ownKeys({ a: 1, [Symbol.iterator]: 2 }).length`,
  String.raw`new Proxy({}, { get: (t, k) => k }).foo`,
  String.raw`[...new Map([[1, 2]])]`,
  String.raw`new Set([1, 1, 2]).size`,
  String.raw`[...(function* () { yield* [1, 2] })()]`,
  String.raw`(() => { const { a, ...rest } = { a: 1, b: 2, c: 3 }; return rest })()`,
  String.raw`(() => { const [p, , q = 5] = [1, 2]; return [p, q] })()`,
  String.raw`((...a) => a.length)(...[1, 2], 3)`,
  String.raw`((a) => { a ||= 5; return a })(0)`,
  String.raw`((a) => { a ??= 5; return a })(null)`,
  String.raw`null ?? 'x'`,
  String.raw`undefined?.a`,
  String.raw`class S { static { this.v = 3 } static #p = 4; static get() { return this.#p } }; S.v + S.get()`,
  String.raw`new (class extends Array {})(3).length`,
  String.raw`new (class { #x = 1; has(o) { return #x in o } })().has({})`,
  String.raw`JSON.stringify({ a: undefined, b: () => 1, c: NaN, d: [undefined] })`,
  String.raw`JSON.stringify('\u2028\ud800"')`,
  String.raw`JSON.stringify({ a: [1, { b: 2 }] }, null, 2)`,
  String.raw`JSON.stringify({ a: 1, b: 2 }, ['b'])`,
  String.raw`JSON.stringify(new Map([[1, 2]]))`,
  String.raw`JSON.stringify({ toJSON() { return 5 } })`,
  String.raw`JSON.parse('{bad')`,
  String.raw`JSON.parse('[1,]')`,
  String.raw`JSON.parse('')`,
  String.raw`JSON.parse('{"a":[1,2.5e3,null]}', (k, v) => (k === '1' ? 7 : v))`,
  String.raw`(() => { const o = {}; o.o = o; return JSON.stringify(o) })()`,
  String.raw`Object.keys(console).sort()`,
  String.raw`typeof structuredClone`,
  String.raw`typeof process`,
  String.raw`typeof Buffer`,
  String.raw`typeof performance`,
  String.raw`typeof URL`,
];

export default function () {}

export function handleSummary() {
  return { 'out.txt': report(cases) };
}
