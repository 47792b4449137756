// importKey() for HMAC: lengths, hashes, usages, JSON Web Keys.
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
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  for (const length of [24, 23, 32, 0]) await say(`${length}`, () => subtle.importKey('raw', zeros(3), { ...algorithm, length }, true, ['sign']));
  await say('empty', () => subtle.importKey('raw', zeros(0), algorithm, true, ['sign']));
  for (const hash of [undefined, 5, 'MD5', {}]) await say(JSON.stringify(hash), () => subtle.importKey('raw', zeros(3), { name: 'HMAC', hash }, true, ['sign']));
  for (const usages of [[], ['encrypt'], ['verify', 'sign', 'sign']]) await say(`${usages}`, () => subtle.importKey('raw', zeros(3), algorithm, true, usages));
  await say('name only', () => subtle.importKey('raw', zeros(3), 'HMAC', true, ['sign']));
  for (const hash of ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'])
    await say(hash, async () => subtle.exportKey('jwk', await subtle.importKey('raw', bytes('key'), { name: 'HMAC', hash }, true, ['sign', 'verify'])));
}
