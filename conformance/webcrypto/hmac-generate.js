// generateKey() for HMAC.
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
  for (const hash of ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512']) {
    const key = await subtle.generateKey({ name: 'HMAC', hash }, true, ['sign', 'verify']);
    note(`${shown(key)} ${(await subtle.exportKey('raw', key)).byteLength}`);
  }
  for (const length of [8, 256, 0]) await say(`${length}`, () => subtle.generateKey({ name: 'HMAC', hash: 'SHA-1', length }, true, ['sign']));
  for (const hash of [undefined, 5, {}, 'MD5', { name: 'SHA-1' }]) await say(JSON.stringify(hash), () => subtle.generateKey({ name: 'HMAC', hash }, true, ['sign']));
  for (const usages of [[], ['sign'], ['verify'], ['encrypt'], ['sign', 'foo']]) await say(`${usages}`, () => subtle.generateKey({ name: 'HMAC', hash: 'SHA-1' }, true, usages));
}
