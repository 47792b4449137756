// parseHTML(): what it takes.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
export default function () {
  probe(
    () => parseHTML('<p>a</p>').html(),
    () => parseHTML('').html(),
    () => parseHTML('text').html(),
    () => parseHTML().html(),
    () => parseHTML(null).html(),
    () => parseHTML(undefined).html(),
    () => parseHTML(12).html(),
    () => parseHTML(true).html(),
    () => parseHTML({}).html(),
    () => parseHTML([1, 2]).html(),
    () => parseHTML('<p>a', 'more').html(),
    () => parseHTML(new Uint8Array([60, 98, 62, 104]).buffer).html(),
    () => parseHTML('<p>a</p>').size(),
    () => parseHTML('<p>a</p>').url,
    () => typeof parseHTML,
    () => parseHTML('<p>a').get(0),
    () => parseHTML('<p>a').get(0).nodeType(),
    () => parseHTML('<p>a').children(),
    () => parseHTML('<p>a').text(),
    () => parseHTML('<p>a').attr('id'),
    () => parseHTML('<p>a').parent(),
    () => JSON.stringify(parseHTML('<p>a')),
  );
}
