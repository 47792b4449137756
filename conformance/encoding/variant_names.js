// Any unknown name of a variant is the standard one.
// files: results.js
import encoding from 'k6/encoding';
import { report, values } from './results.js';

export default function () {
  const cases = Object.entries(values).filter(([name]) => name !== 'object without prototype');
  report(cases.map(([name, value]) => [name, () => encoding.b64encode('>>>???a', value)]));
  report(
    ['STD', 'Url', 'rawURL', 'urlraw', ' url', 'base64', 'hex', 'raw'].map((name) => [
      name,
      () => [encoding.b64encode('>>>???a', name), encoding.b64decode('Pj4+Pz8/YQ==', name, 's')].join(' '),
    ]),
  );
}
