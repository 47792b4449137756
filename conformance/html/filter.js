// Selection.filter().
// files: probe.js page.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
import { page, $ } from './page.js';
export default function () {
  probe(
    () => $('p').filter('.x'),
    () => $('p').filter('#none'),
    () => $('p').filter(''),
    () => $('p').filter('!!'),
    () => $('p').filter(12),
    () => $('p').filter({}),
    () => $('p').filter((i, e) => i % 2 === 0),
    () => $('p').filter((i, s) => s.text() === 'three'),
    () => $('p').filter(() => 1),
    () => $('p').filter(() => 'x'),
    () => $('p').filter(() => undefined),
    () => $('p').filter(() => ({})),
    () => $('p').filter(() => { throw new Error('from the callback'); }),
    () => (() => { const d = page(); return d.find('p').filter(d.find('.x')); })(),
    () => (() => { const d = page(); return d.find('p').filter(d.find('.x').get(0)); })(),
    () => $('p').filter($('.x')),
    () => $('p').filter('b, .x'),
    () => $('p').filter(':first-child'),
    () => $('p').filter('div > p'),
  );
}
