// A signed JSON Web Token.
// files: results.js
import crypto from 'k6/crypto';
import encoding from 'k6/encoding';
import { report } from './results.js';

const part = (object) => encoding.b64encode(JSON.stringify(object), 'rawurl');

export default function () {
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ sub: '1234567890', name: 'John Doe', iat: 1516239022 })}`;
  report([['token', () => `${signed}.${crypto.hmac('sha256', 'your-256-bit-secret', signed, 'base64rawurl')}`]]);
}
