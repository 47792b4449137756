// Selection.html() and text().
// files: probe.js page.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
import { page, $ } from './page.js';
export default function () {
  probe(
    () => $('#p2').html(),
    () => $('p').html(),
    () => $('#none').html(),
    () => $('#p2').text(),
    () => $('p').text(),
    () => $('#none').text(),
    () => page().text(),
    () => $('ul').html(),
    () => $('#top').html(),
    () => $('b').contents().html(),
    () => parseHTML('<p>a<br>b<img src=x alt="q"></p>').find('p').html(),
    () => parseHTML('<p>a<br>b<script>c</script><!--d--></p>').find('p').text(),
    () => parseHTML('<div><p> a </p>\n<p>b</p></div>').find('div').text(),
    () => parseHTML('<template><p>a</p></template>').find('template').html(),
    () => parseHTML('<template><p>a</p></template>').find('p').size(),
    () => parseHTML('<noscript><p>a</p></noscript>').find('p').size(),
    () => parseHTML('<plaintext>a').find('body').html(),
    () => parseHTML('<plaintext>a').find('plaintext').html(),
  );
}
