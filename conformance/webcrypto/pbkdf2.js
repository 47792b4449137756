// PBKDF2 with known results.
import { check } from 'k6';

const subtle = crypto.subtle;
const bytes = (text) => new Uint8Array(Array.from(text, (c) => c.charCodeAt(0)));
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
  const key = await subtle.importKey('raw', bytes('password'), 'PBKDF2', false, ['deriveBits']);
  await say('key', () => key);
  for (const hash of ['SHA-1', 'SHA-256', 'SHA-384', { name: 'sha-512' }])
    for (const iterations of [1, 2, 1000])
      await say(`${JSON.stringify(hash)} ${iterations}`, () => subtle.deriveBits({ name: 'PBKDF2', salt: bytes('salt'), iterations, hash }, key, 256));
  for (const length of [8, 160, 1024]) await say(`${length}`, () => subtle.deriveBits({ name: 'pbkdf2', salt: bytes('salt'), iterations: 1, hash: 'SHA-1' }, key, length));
}
