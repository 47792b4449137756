// Selection.slice().
// files: probe.js page.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
import { page, $ } from './page.js';
export default function () {
  probe(
    () => $('li').slice(1),
    () => $('li').slice(1, 3),
    () => $('li').slice(0, 0),
    () => $('li').slice(-2),
    () => $('li').slice(-3, -1),
    () => $('li').slice(0, -1),
    () => $('li').slice(),
    () => $('li').slice('1'),
    () => $('li').slice(1.5),
    () => $('li').slice(null),
    () => $('li').slice('x'),
    () => $('li').slice(4),
    () => $('li').slice(4, 4),
    () => $('#none').slice(0),
    () => $('#none').slice(0, 0),
  );
}
