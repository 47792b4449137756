// Selection.find().
// files: probe.js page.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
import { page, $ } from './page.js';
export default function () {
  probe(
    () => $('p'),
    () => $('div p'),
    () => $('#none'),
    () => $('p').find('b'),
    () => $('div').find('p'),
    () => $('p').find('p'),
    () => page().find(),
    () => page().find(''),
    () => page().find(null),
    () => page().find(undefined),
    () => page().find(12),
    () => page().find({}),
    () => page().find(true),
    () => page().find($('p')),
    () => page().find($('p').get(0)),
    () => page().find(() => true),
    () => page().find('p').find(''),
    () => page().find('p,b, #l1 , p'),
    () => $('p').find($('b')),
  );
}
