// Selection.get(), toArray() and size().
// files: probe.js page.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
import { page, $ } from './page.js';
export default function () {
  probe(
    () => $('li').get(),
    () => Array.isArray($('li').get()),
    () => $('li').get(0),
    () => $('li').get(1),
    () => $('li').get(-1),
    () => $('li').get(-4),
    () => $('li').get(-5),
    () => $('li').get(4),
    () => $('li').get('1'),
    () => $('li').get(1.7),
    () => $('li').get(null),
    () => $('li').get(undefined),
    () => $('li').get('x'),
    () => $('li').get({}),
    () => $('#none').get(),
    () => $('#none').get(0),
    () => $('li').toArray().length,
    () => Array.isArray($('li').toArray()),
    () => $('li').toArray()[1].text(),
    () => $('li').toArray().map((s) => s.attr('id')),
    () => $('#none').toArray(),
    () => $('li').size(),
    () => $('#none').size(),
    () => $('li').length,
    () => $('li')[0],
    () => $('li').single,
    () => [...$('li').get()].length,
  );
}
