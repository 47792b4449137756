// Selection.add().
// files: probe.js page.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
import { page, $ } from './page.js';
export default function () {
  probe(
    () => $('#p1').add('b'),
    () => $('#p3').add('#p1'),
    () => $('#p1').add('#p1'),
    () => $('#p1').add('#none'),
    () => $('#p1').add(''),
    () => $('#p1').add(),
    () => $('#p1').add(null),
    () => $('#p1').add(12),
    () => $('#p1').add({}),
    () => $('#p1').add('!!'),
    () => (() => { const d = page(); return d.find('#p1').add(d.find('b')); })(),
    () => (() => { const d = page(); return d.find('#p1').add(d.find('b').get(0)); })(),
    () => $('#p1').add('b').end(),
    () => $('#none').add('b'),
  );
}
