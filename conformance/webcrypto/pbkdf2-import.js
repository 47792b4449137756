// importKey() for PBKDF2.
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
  await say('extractable', () => subtle.importKey('raw', zeros(1), 'PBKDF2', true, ['deriveBits']));
  for (const usages of [[], ['encrypt'], ['deriveKey'], ['deriveBits', 'deriveKey']]) await say(`${usages}`, () => subtle.importKey('raw', zeros(1), 'PBKDF2', false, usages));
  await say('empty', () => subtle.importKey('raw', zeros(0), { name: 'pbkdf2' }, false, ['deriveBits']));
  for (const format of ['jwk', 'spki', 'x']) await say(format, () => subtle.importKey(format, format === 'jwk' ? {} : zeros(1), 'PBKDF2', false, ['deriveBits']));
  await say('export', async () => subtle.exportKey('raw', await subtle.importKey('raw', zeros(1), 'PBKDF2', false, ['deriveBits'])));
  await say('generate', () => subtle.generateKey('PBKDF2', false, ['deriveBits']));
}
