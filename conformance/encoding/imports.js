// Named imports, the namespace and the default export.
// files: results.js
import encoding, { b64encode, b64decode } from 'k6/encoding';
import * as namespace from 'k6/encoding';
import { report } from './results.js';

export default function () {
  report([
    ['named', () => b64decode(b64encode('a'), 'std', 's')],
    ['namespace', () => Object.keys(namespace).filter((key) => key !== 'default').sort().join()],
    ['default', () => Object.keys(encoding).sort().join()],
    ['alike', () => namespace.b64encode('a') === encoding.b64encode('a')],
    ['lengths', () => `${b64encode.length} ${b64decode.length}`],
  ]);
}
