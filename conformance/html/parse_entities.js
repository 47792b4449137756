// Character references, read and written.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
const p = (text) => parseHTML(`<p>${text}</p>`).find('p');
const a = (text) => parseHTML(`<p title="${text}">`).find('p').attr('title');
export default function () {
  probe(
    () => p('&lt;b&gt; &amp; &quot; &apos; &nbsp; &copy; &euro;').text(),
    () => p('&lt;b&gt; &amp; &quot; &apos; &nbsp; &copy; &euro;').html(),
    () => p('&#65;&#x42;&#X43;&#128;&#0;&#xD800;&#x110000;&#xFFFF;').text(),
    () => p('&amp &ampx &lt &notit; &notin; &copy2 &unknown; & &; &#; &#x;').text(),
    () => p('&NotEqualTilde;&fjlig;&CounterClockwiseContourIntegral;').text(),
    () => p('"\'&<>').html(),
    () => p('\u00a0é😀').html(),
    () => a('a&amp;b&lt;c&copy=d&copy;e&copyf&ampg=1&amp=2'),
    () => a('?a=1&lt=2&b=3&notin=4'),
    () => parseHTML('<p title=\'"&amp;&lt;>\' class="a\'b">').find('body').html(),
    () => parseHTML('<script>&lt;</script>').find('script').text(),
    () => parseHTML('<script>&lt;</script>').find('script').html(),
    () => parseHTML('<textarea>&lt;</textarea>').find('textarea').html(),
  );
}
