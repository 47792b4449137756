// The parts of a JSON Web Token are rawurl.
// files: results.js
import encoding from 'k6/encoding';
import { report } from './results.js';

const token = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c';

export default function () {
  const [head, body, signature] = token.split('.');
  report([
    ['head', () => JSON.parse(encoding.b64decode(head, 'rawurl', 's'))],
    ['name', () => JSON.parse(encoding.b64decode(body, 'rawurl', 's')).name],
    ['body as std', () => encoding.b64decode(body)],
    ['body as url', () => encoding.b64decode(body, 'url')],
    ['signature', () => encoding.b64decode(signature, 'rawurl').byteLength],
    ['signature as rawstd', () => encoding.b64decode(signature, 'rawstd')],
  ]);
}
