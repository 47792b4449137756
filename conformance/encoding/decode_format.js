// Only the format "s" gives a string.
// files: results.js
import encoding from 'k6/encoding';
import { report, values } from './results.js';

export default function () {
  const cases = Object.entries(values).filter(([name]) => !['symbol', 'object without prototype'].includes(name));
  report(cases.map(([name, value]) => [name, () => encoding.b64decode('YQ==', 'std', value)]));
  report(['s', 'S', 'b', 'string', ' s'].map((format) => [format, () => encoding.b64decode('YQ==', 'std', format)]));
}
