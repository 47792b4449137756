// Selection.attr().
// files: probe.js page.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
import { page, $ } from './page.js';
export default function () {
  probe(
    () => $('p').attr('id'),
    () => $('#top').attr('class'),
    () => $('p').attr('none'),
    () => $('p').attr('none', 'default'),
    () => $('p').attr('id', 'default'),
    () => $('p').attr('none', 12),
    () => $('p').attr('none', null),
    () => $('p').attr('none', undefined),
    () => $('p').attr('none', { a: 1 }),
    () => $('p').attr('ID'),
    () => $('p').attr(),
    () => $('p').attr(null),
    () => $('p').attr(''),
    () => $('p').attr(12),
    () => $('#none').attr('id'),
    () => $('#none').attr('id', 'default'),
    () => parseHTML('<p empty bare="">').find('p').attr('empty'),
    () => parseHTML('<p empty bare="">').find('p').attr('empty', 'default'),
    () => parseHTML('<p DATA-Upper="X">').find('p').attr('data-upper'),
    () => parseHTML('<svg viewBox="1" xlink:href="h">').find('svg').attr('viewBox'),
    () => parseHTML('<svg viewBox="1" xlink:href="h">').find('svg').attr('xlink:href'),
    () => parseHTML('<svg viewBox="1" xlink:href="h">').find('svg').attr('href'),
  );
}
