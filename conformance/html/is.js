// Selection.is().
// files: probe.js page.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
import { page, $ } from './page.js';
export default function () {
  probe(
    () => $('p').is('.x'),
    () => $('p').is('p'),
    () => $('p').is('div'),
    () => $('p').is(''),
    () => $('p').is(12),
    () => $('p').is({}),
    () => $('p').is((i, s) => s.text() === 'three'),
    () => $('p').is(() => false),
    () => $('p').is(() => { throw new Error('from the callback'); }),
    () => (() => { const d = page(); return d.find('p').is(d.find('.x')); })(),
    () => (() => { const d = page(); return d.find('p').is(d.find('#p1').get(0)); })(),
    () => $('p').is($('.x')),
    () => $('#none').is('p'),
    () => $('p').is('!!'),
  );
}
