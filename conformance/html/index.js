// Selection.index().
// files: probe.js page.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
import { page, $ } from './page.js';
export default function () {
  probe(
    () => $('#l3').index(),
    () => $('#p2').index(),
    () => $('li').index(),
    () => $('#none').index(),
    () => $('li').index('#l2'),
    () => $('#l2').index('li'),
    () => $('#l2').index('p'),
    () => $('#l3').index('li'),
    () => $('li').index(''),
    () => $('li').index(null),
    () => $('li').index(undefined),
    () => $('li').index(12),
    () => $('li').index({}),
    () => (() => { const d = page(); return d.find('li').index(d.find('#l3')); })(),
    () => (() => { const d = page(); return d.find('li').index(d.find('#l3').get(0)); })(),
    () => (() => { const d = page(); return d.find('li').index(d.find('p')); })(),
    () => (() => { const d = page(); return d.find('li').index(d.find('#none')); })(),
    () => $('li').index($('#l3')),
    () => $('li').index('!!'),
    () => page().index(),
    () => $('html').index(),
  );
}
