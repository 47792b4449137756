// AES keys as JSON Web Keys: out, in, and what is ignored.
import { check } from 'k6';

const subtle = crypto.subtle;
const zeros = (n) => new Uint8Array(n);
const hex = (b) => Array.from(new Uint8Array(b), (x) => x.toString(16).padStart(2, '0')).join('');
const note = (name) => check(null, { [name]: () => true });
// What a call gives or how it fails, as the name of a check.
async function say(label, call) {
  try {
    const value = await call();
    note(`${label}: ${value instanceof ArrayBuffer ? hex(value) : typeof value === 'object' ? shown(value) : value}`);
  } catch (e) {
    note(`${label}: ${String(e)}`);
  }
}
const shown = (key) => key.privateKey ? `pair ${shown(key.privateKey)} ${shown(key.publicKey)}` : key.kty ? jwk(key)
  : [key.type, key.extractable, key.algorithm.name, key.algorithm.length, key.algorithm.modulusLength, key.algorithm.namedCurve,
    key.algorithm.hash && key.algorithm.hash.name, key.usages.join('+')].filter((x) => x !== undefined).join(' ');
const jwk = (key) => Object.keys(key).sort().map((k) => `${k}=${Array.isArray(key[k]) ? key[k].join('+') : key[k]}`).join(' ');

export default async function () {
  for (const [name, n] of [['AES-CBC', 16], ['AES-CTR', 24], ['AES-GCM', 32]]) {
    const key = await subtle.importKey('raw', zeros(n).fill(7), name, true, ['encrypt', 'decrypt']);
    await say(name, () => subtle.exportKey('jwk', key));
    const again = await subtle.importKey('jwk', { ...(await subtle.exportKey('jwk', key)) }, name, true, ['encrypt']);
    await say(`${name} again`, () => subtle.exportKey('raw', again));
  }
  await say('ignored', () => subtle.importKey('jwk', { kty: 'oct', k: 'AAAAAAAAAAAAAAAAAAAAAA', alg: 'A256CBC', use: 'sig', key_ops: ['foo'], ext: false }, 'AES-CBC', true, ['encrypt']));
}
