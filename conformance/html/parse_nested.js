// Elements nested deeply.
// files: probe.js
import { parseHTML } from 'k6/html';
import { probe } from './probe.js';
export default function () {
  probe(
    () => parseHTML('<div>'.repeat(100)).find('div').size(),
    () => parseHTML('<div>'.repeat(500)).find('div').size(),
    () => parseHTML('<div>'.repeat(508)).find('div').size(),
    () => parseHTML('<div>'.repeat(509)).find('div').size(),
    () => parseHTML('<div>'.repeat(510)).find('div').size(),
    () => parseHTML('<div>'.repeat(511)).find('div').size(),
    () => parseHTML('<div>'.repeat(512)).find('div').size(),
    () => parseHTML('<div>'.repeat(5000)).find('div').size(),
    () => parseHTML('<b>'.repeat(600)).find('b').size(),
    () => parseHTML('<p><b>'.repeat(300)).find('b').size(),
    () => parseHTML('<div></div>'.repeat(5000)).find('div').size(),
  );
}
