// Inputs of more than a piece, at once and in parts.
// files: results.js
import crypto from 'k6/crypto';
import { report } from './results.js';

const text = 'abcdefghijklmnop'.repeat(1 << 16);
const wide = '日本é'.repeat(200000);
const bytes = new Uint8Array(2000003).map((_, index) => index * 7);

export default function () {
  const hasher = crypto.createHash('sha256');
  for (let at = 0; at < text.length; at += 300007) hasher.update(text.slice(at, at + 300007));
  report([
    ['sha256', () => crypto.sha256(text, 'hex')],
    ['in parts', () => hasher.digest('hex') === crypto.sha256(text, 'hex')],
    ['md5 of bytes', () => crypto.md5(bytes, 'hex')],
    ['ripemd160 of a part', () => crypto.ripemd160(bytes.subarray(1, 1500000), 'hex')],
    ['sha1 of wide text', () => crypto.sha1(wide, 'hex')],
    ['joined text', () => crypto.sha1(text + wide, 'hex')],
    ['hmac with a large key', () => crypto.hmac('sha512', bytes, text, 'hex')],
    ['hmac with a wide key', () => crypto.hmac('sha512', wide, text, 'hex')],
    ['hex', () => crypto.hexEncode(bytes).length],
    ['md5 of hex', () => crypto.md5(crypto.hexEncode(bytes), 'hex')],
  ]);
}
