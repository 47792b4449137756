// Dates read from text.
// env: TZ=UTC
// files: expressions.js
// written: out.txt
import { report } from './expressions.js';
const cases = [
  String.raw`new Date('2020-01-01').getTime()`,
  String.raw`new Date('2020-01-01T00:00').getTime()`,
  String.raw`new Date('2020-01-01T00:00:00Z').getTime()`,
  String.raw`new Date('2020-01-01T00:00:00+02:00').getTime()`,
  String.raw`new Date('2020-01-01T00:00:00.123456Z').getTime()`,
  String.raw`new Date('2020-01-01 00:00:00').getTime()`,
  String.raw`new Date('2020/01/01').getTime()`,
  String.raw`new Date('01/02/2020').getTime()`,
  String.raw`new Date('Jan 1, 2020').getTime()`,
  String.raw`new Date('1 Jan 2020').getTime()`,
  String.raw`new Date('January 1, 2020 10:00:00').getTime()`,
  String.raw`new Date('Wed, 01 Jan 2020 00:00:00 GMT').getTime()`,
  String.raw`new Date('Wed Jan 01 2020 00:00:00 GMT+0000 (UTC)').getTime()`,
  String.raw`new Date('Wed Jan 01 2020').getTime()`,
  String.raw`new Date('2020').getTime()`,
  String.raw`new Date('2020-06').getTime()`,
  String.raw`new Date('2020-01-01T24:00:00Z').getTime()`,
  String.raw`new Date('2020-13-01').getTime()`,
  String.raw`new Date('garbage').getTime()`,
  String.raw`new Date('').getTime()`,
  String.raw`new Date('2020-01-01T00:00:00+0200').getTime()`,
  String.raw`new Date('Thu, 01 Jan 1970 00:00:00 GMT+0200').getTime()`,
  String.raw`new Date('2020-01-01 10:00:00+01:00').getTime()`,
  String.raw`Date.parse(new Date(1.6e12).toString())`,
  String.raw`Date.parse(new Date(1.6e12).toUTCString())`,
  String.raw`Date.UTC(2020, 1, 30)`,
  String.raw`new Date(8.64e15 + 1).getTime()`,
];

export default function () {}

export function handleSummary() {
  return { 'out.txt': report(cases) };
}
