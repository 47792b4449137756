// The order of strings for people.
// env: TZ=UTC
// files: expressions.js
// written: out.txt
import { report } from './expressions.js';
const cases = [
  String.raw`['b', 'a', 'C', 'A', 'ä', 'z', 'Z', 'ö', '_', '1', '10', '2', ' ', '-'].sort((x, y) => x.localeCompare(y))`,
  String.raw`['zebra', 'Ärger', 'apfel', 'Zoo', 'öl', 'Apfel'].sort((x, y) => x.localeCompare(y))`,
  String.raw`['item 10', 'item 9', 'Item 1', 'item-2'].sort((x, y) => x.localeCompare(y))`,
  String.raw`'a'.localeCompare('B')`,
  String.raw`'a'.localeCompare('a')`,
  String.raw`'A'.localeCompare('a')`,
  String.raw`'résumé'.localeCompare('resume')`,
  String.raw`'a\u0301'.localeCompare('á')`,
  String.raw`'ß'.localeCompare('ss')`,
  String.raw`'日'.localeCompare('本')`,
  String.raw`'😀'.localeCompare('a')`,
  String.raw`''.localeCompare('a')`,
  String.raw`'null'.localeCompare(null)`,
  String.raw`'undefined'.localeCompare()`,
  String.raw`'a'.localeCompare('b', 'de', { sensitivity: 'base' })`,
  String.raw`String.prototype.localeCompare.call(5, 10)`,
  String.raw`String.prototype.localeCompare.call(null, 'a')`,
  String.raw`['b', 'a', 'C', 'A', 'ä'].sort()`,
];

export default function () {}

export function handleSummary() {
  return { 'out.txt': report(cases) };
}
