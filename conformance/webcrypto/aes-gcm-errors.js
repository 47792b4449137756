// AES-GCM: other vectors, other data, short data.
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
  const key = await subtle.importKey('raw', zeros(16), 'AES-GCM', true, ['encrypt', 'decrypt']);
  for (const n of [0, 1, 11, 13, 16, 64]) await say(`iv ${n}`, () => subtle.encrypt({ name: 'AES-GCM', iv: zeros(n) }, key, zeros(3)));
  await say('no iv', () => subtle.encrypt({ name: 'AES-GCM' }, key, zeros(3)));
  await say('decrypt, no iv', () => subtle.decrypt({ name: 'AES-GCM' }, key, zeros(30)));
  const algorithm = { name: 'AES-GCM', iv: zeros(12) };
  for (const n of [0, 15, 16, 40]) await say(`decrypt ${n}`, () => subtle.decrypt(algorithm, key, zeros(n)));
  const sealed = new Uint8Array(await subtle.encrypt(algorithm, key, zeros(3)));
  for (const at of [0, 3, 18]) { const changed = sealed.slice(); changed[at] ^= 1; await say(`changed ${at}`, () => subtle.decrypt(algorithm, key, changed)); }
  await say('other data', () => subtle.decrypt({ ...algorithm, additionalData: bytes('x') }, key, sealed));
}
