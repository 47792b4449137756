// Selection.parent(), parents() and parentsUntil().
// files: probe.js page.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
import { page, $ } from './page.js';
export default function () {
  probe(
    () => $('b').parent(),
    () => $('p').parent(),
    () => $('li').parent(),
    () => $('p').parent('#bottom'),
    () => $('p').parent(''),
    () => $('p').parent(null),
    () => $('p').parent(12),
    () => $('html').parent(),
    () => $('html').parents(),
    () => page().parents(),
    () => $('#none').parent(),
    () => (() => { const d = page(); return d.find('p').parent(d.find('#bottom')); })(),
    () => (() => { const d = page(); return d.find('p').parent(d.find('#bottom').get(0)); })(),
    () => $('b').parents(),
    () => $('p').parents(),
    () => $('b, li').parents(),
    () => $('b').parents('div'),
    () => $('p').parents('body, #bottom'),
    () => $('b').parents(''),
    () => $('b').parents(null),
    () => $('b').parents(12),
    () => $('b').parentsUntil('div'),
    () => $('b').parentsUntil('#none'),
    () => $('b').parentsUntil(),
    () => $('b').parentsUntil(''),
    () => $('b').parentsUntil(null),
    () => $('b').parentsUntil('html', 'div'),
    () => $('b').parentsUntil('html', 'div, p'),
    () => $('b').parentsUntil('', 'div'),
    () => $('b').parentsUntil(null, 'div'),
    () => $('b').parentsUntil(12),
    () => $('b').parentsUntil({}),
    () => $('b, li').parentsUntil('div'),
    () => (() => { const d = page(); return d.find('b').parentsUntil(d.find('#top')); })(),
    () => (() => { const d = page(); return d.find('b').parentsUntil(d.find('body').get(0)); })(),
    () => (() => { const d = page(); return d.find('b').parentsUntil(d.find('body').get(0), 'p'); })(),
    () => (() => { const d = page(); return d.find('b').parentsUntil(d.find('body'), 'div'); })(),
  );
}
