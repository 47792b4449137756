// Selection.siblings().
// files: probe.js page.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
import { page, $ } from './page.js';
export default function () {
  probe(
    () => $('#l2').siblings(),
    () => $('li').siblings(),
    () => $('#l1, #l2').siblings(),
    () => $('#p1').siblings(),
    () => $('#p1').siblings('p'),
    () => $('#p1').siblings(''),
    () => $('#p1').siblings(null),
    () => $('#p1').siblings(12),
    () => $('b').siblings(),
    () => $('#none').siblings(),
    () => (() => { const d = page(); return d.find('#p1').siblings(d.find('#p3')); })(),
    () => $('#p2').contents().siblings(),
  );
}
