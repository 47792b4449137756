// AES-CTR: counters and lengths.
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
  const key = await subtle.importKey('raw', zeros(16), 'AES-CTR', true, ['encrypt', 'decrypt']);
  for (const length of [0, 1, 128, 129, -1, 'x', undefined, null, 256, 64.5]) {
    await say(`${length}`, () => subtle.encrypt({ name: 'AES-CTR', counter: zeros(16), length }, key, zeros(1)));
    await say(`decrypt ${length}`, () => subtle.decrypt({ name: 'AES-CTR', counter: zeros(16), length }, key, zeros(1)));
  }
  for (const counter of [zeros(15), undefined]) {
    await say('counter', () => subtle.encrypt({ name: 'AES-CTR', counter, length: 64 }, key, zeros(1)));
    await say('decrypt counter', () => subtle.decrypt({ name: 'AES-CTR', counter, length: 64 }, key, zeros(1)));
  }
}
