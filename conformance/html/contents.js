// Selection.contents().
// files: probe.js page.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
import { page, $ } from './page.js';
export default function () {
  probe(
    () => $('#top').contents(),
    () => $('#p2').contents(),
    () => $('p').contents(),
    () => $('#none').contents(),
    () => page().contents(),
    () => $('#p1').contents().text(),
    () => $('#p1').contents().html(),
    () => $('#p1').contents().attr('id'),
    () => $('#p1').contents().parent(),
    () => $('#top').contents().size(),
    () => $('#top').contents().filter('p'),
    () => $('#top').contents().not('p'),
    () => $('#top').contents().get(1).nodeName(),
    () => $('#top').contents().contents(),
  );
}
