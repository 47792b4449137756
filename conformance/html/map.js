// Selection.map().
// files: probe.js page.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
import { page, $ } from './page.js';
export default function () {
  probe(
    () => $('li').map((i, s) => `${i}${s.text()}`),
    () => $('li').map((i, s) => s),
    () => $('li').map((i, s) => i),
    () => $('li').map(() => undefined),
    () => $('li').map(() => null),
    () => $('li').map((i, s) => (i % 2 ? [i, i] : { i })),
    () => Array.isArray($('li').map((i, s) => i)),
    () => $('li').map(function () { return arguments.length; }),
    () => $('#none').map(() => 1),
    () => $('li').map(() => { throw new Error('from the callback'); }),
    () => $('li').map(),
    () => $('li').map(null),
    () => $('li').map('li'),
    () => $('li').map(12),
    () => $('li').map((i) => i).join('-'),
    () => $('li').map((i) => { if (i === 1) throw new Error('from the callback'); return i; }),
    () => $('li').map((i, s) => [i]).length,
  );
}
