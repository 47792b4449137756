// Selection.each().
// files: probe.js page.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
import { page, $ } from './page.js';
export default function () {
  probe(
    () => (() => { const seen = []; $('li').each((i, e) => seen.push(i, e)); return seen; })(),
    () => (() => { const seen = []; $('li').each((i, e) => { seen.push(i); return false; }); return seen; })(),
    () => (() => { const seen = []; $('li').each(function () { seen.push(arguments.length); }); return seen; })(),
    () => $('li').each(() => true),
    () => $('li').each(() => true).size(),
    () => $('#none').each(() => { throw new Error('never'); }).size(),
    () => $('li').each(() => { throw new Error('from the callback'); }),
    () => $('li').each(),
    () => $('li').each(null),
    () => $('li').each('li'),
    () => $('li').each(12),
    () => $('li').each({}),
  );
}
