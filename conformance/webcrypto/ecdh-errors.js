// ECDH: lengths and keys.
import { check } from 'k6';

const subtle = crypto.subtle;
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
  const pair = await subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits', 'deriveKey']);
  const other = await subtle.generateKey({ name: 'ECDH', namedCurve: 'P-384' }, true, ['deriveBits']);
  const onlyKeys = await subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveKey']);
  const signing = await subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign']);
  const bits = (pub, key, length) => subtle.deriveBits({ name: 'ECDH', public: pub }, key, length);
  for (const length of [0, null, undefined, 7, 264]) await say(`${length}`, () => bits(pair.publicKey, pair.privateKey, length));
  await say('no public', () => subtle.deriveBits({ name: 'ECDH' }, pair.privateKey, 256));
  await say('name only', () => subtle.deriveBits('ECDH', pair.privateKey, 256));
  await say('private', () => bits(pair.privateKey, pair.privateKey, 256));
  await say('curves', () => bits(other.publicKey, pair.privateKey, 256));
  await say('usage', () => bits(pair.publicKey, onlyKeys.privateKey, 256));
  await say('object', () => bits({}, pair.privateKey, 256));
  await say('key', () => bits(pair.publicKey, {}, 256));
  await say('ECDSA', () => bits(signing.publicKey, pair.privateKey, 256));
  for (const name of ['foo', 'AES-CBC', 'HMAC']) await say(name, () => subtle.deriveBits(name, pair.privateKey, 256));
}
