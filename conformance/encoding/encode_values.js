// What can be encoded: texts, buffers and views of bytes; anything else is an error that names its type.
// files: results.js
import encoding from 'k6/encoding';
import { report, values } from './results.js';

export default function () {
  report(Object.entries(values).map(([name, value]) => [name, () => encoding.b64encode(value)]));
}
