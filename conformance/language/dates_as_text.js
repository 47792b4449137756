// Dates as text.
// env: TZ=UTC
// files: expressions.js
// written: out.txt
import { report } from './expressions.js';
const cases = [
  String.raw`new Date(0).toString()`,
  String.raw`new Date(0).toDateString()`,
  String.raw`new Date(0).toTimeString()`,
  String.raw`new Date(0).toLocaleString()`,
  String.raw`new Date(0).toLocaleDateString()`,
  String.raw`new Date(0).toLocaleTimeString()`,
  String.raw`new Date(0).toLocaleDateString('en-US')`,
  String.raw`new Date(0).toLocaleTimeString('de-DE', { timeZone: 'UTC' })`,
  String.raw`new Date(46800000).toLocaleString()`,
  String.raw`new Date(0).toUTCString()`,
  String.raw`new Date(0).toISOString()`,
  String.raw`new Date(0).toJSON()`,
  String.raw`JSON.stringify({ at: new Date(1.6e12) })`,
  String.raw`new Date(NaN).toString()`,
  String.raw`new Date(NaN).toISOString()`,
  String.raw`JSON.stringify(new Date(NaN))`,
  '`${new Date(0)}`',
  String.raw`new Date(0) + 1`,
  String.raw`new Date(0) - 1`,
  String.raw`new Date(2020, 0, 31, 12).toString()`,
  String.raw`new Date('2024-02-30').toString()`,
  String.raw`new Date(99, 0).getFullYear()`,
  String.raw`new Date(2020, 5, 1) - new Date(2020, 0, 1)`,
  String.raw`new Date(2020, 0, 1).getTimezoneOffset()`,
];

export default function () {}

export function handleSummary() {
  return { 'out.txt': report(cases) };
}
