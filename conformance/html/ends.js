// Selection.end(), first(), last() and eq().
// files: probe.js page.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
import { page, $ } from './page.js';
export default function () {
  probe(
    () => $('li').first(),
    () => $('li').last(),
    () => $('#none').first(),
    () => $('#none').last(),
    () => $('li').eq(0),
    () => $('li').eq(2),
    () => $('li').eq(4),
    () => $('li').eq(-1),
    () => $('li').eq(-4),
    () => $('li').eq(-5),
    () => $('li').eq(),
    () => $('li').eq('1'),
    () => $('li').eq(1.9),
    () => $('li').eq(NaN),
    () => $('li').eq(null),
    () => $('li').eq('x'),
    () => $('li').eq({}),
    () => $('li').eq(2147483648),
    () => $('li').first().end(),
    () => $('li').eq(9).end(),
    () => $('li').end(),
    () => $('li').end().end(),
    () => $('li').end().end().end(),
    () => page().end(),
    () => page().end().end(),
    () => page().end().size(),
    () => $('li').filter('.x').end(),
    () => $('li').parent().end(),
    () => $('li').slice(1).end(),
    () => $('li').first().end().last(),
  );
}
