// digest(): four hash functions, by name and object, in any case.
import { check } from 'k6';

const subtle = crypto.subtle;
const zeros = (n) => new Uint8Array(n);
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
  for (const algorithm of ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512', 'sha-256', { name: 'SHA-512' }, { name: 'sha-1', other: 1 }])
    await say(JSON.stringify(algorithm), () => subtle.digest(algorithm, bytes('abc')));
  await say('empty', () => subtle.digest('SHA-256', zeros(0)));
}
