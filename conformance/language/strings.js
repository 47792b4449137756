// Strings and regular expressions.
// env: TZ=UTC
// files: expressions.js
// written: out.txt
import { report } from './expressions.js';
const cases = [
  String.raw`'😀'.length`,
  String.raw`[...'😀a'].length`,
  String.raw`'ß'.toUpperCase()`,
  String.raw`'ﬁ'.toUpperCase()`,
  String.raw`'ΑΣ'.toLowerCase()`,
  String.raw`'İ'.toLowerCase().length`,
  String.raw`'a\u0301'.normalize('NFC').length`,
  String.raw`'ab'.normalize('XX')`,
  String.raw`encodeURIComponent('é &?')`,
  String.raw`encodeURI('http://a/b c?é#d')`,
  String.raw`decodeURIComponent('%')`,
  String.raw`decodeURIComponent('%F0%9F%98%80')`,
  String.raw`escape('é ü€')`,
  String.raw`unescape('%u20AC%E9')`,
  String.raw`'abc'.substr(-2, 1)`,
  String.raw`'a-b-c'.split('-', 2)`,
  String.raw`'a,b'.split(/(,)/)`,
  String.raw`'aXbX'.replaceAll('X', '$&$&')`,
  '\'abc\'.replace(\'b\', \'$`$\\\'\')',
  String.raw`'abc'.padStart(5, '*')`,
  String.raw`'a'.repeat(-1)`,
  String.raw`'abc'.at(-1)`,
  String.raw`[...'a1b2'.matchAll(/\d/g)].map((m) => m.index)`,
  String.raw`'2020-01-02'.match(/(\d+)-(\d+)/).slice(1)`,
  String.raw`/(?<=a)b/.test('ab')`,
  String.raw`/(?<!a)b/.test('ab')`,
  String.raw`/a.c/s.test('a\nc')`,
  String.raw`/a/y.sticky`,
  String.raw`/\u{1F600}/u.test('😀')`,
  String.raw`/(a*)*b/.test('aaaaaaaaaaaaaaaaaa')`,
  String.raw`/(z)((a+)?(b+)?(c))*/.exec('zaacbbbcac')`,
  String.raw`/(?=(a+))a*b\1/.exec('baaabac')`,
  String.raw`/a{2,3}?/.exec('aaa')[0]`,
  String.raw`/\bfoo\b/.test('a foo b')`,
  String.raw`/^[\w.+-]+@\w+\.\w{2,}$/.test('a.b@c.de')`,
  String.raw`'abcabc'.replace(/b/g, (m, o) => o)`,
  String.raw`new RegExp('[')`,
  String.raw`new RegExp('a', 'zz')`,
  String.raw`/a/gimsuy.flags`,
  'String.raw`a\\n`',
  String.raw`String.fromCodePoint(0x1F600)`,
];

export default function () {}

export function handleSummary() {
  return { 'out.txt': report(cases) };
}
