// deriveKey(): AES keys from passwords.
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
  const key = await subtle.importKey('raw', bytes('password'), 'PBKDF2', false, ['deriveKey']);
  const onlyBits = await subtle.importKey('raw', bytes('password'), 'PBKDF2', false, ['deriveBits']);
  const algorithm = { name: 'PBKDF2', salt: bytes('salt'), iterations: 100, hash: 'SHA-256' };
  for (const [name, length] of [['AES-CBC', 128], ['AES-CTR', 192], ['AES-GCM', 256], ['aes-gcm', 128]]) {
    const derived = await subtle.deriveKey(algorithm, key, { name, length }, true, ['encrypt', 'decrypt']);
    await say(name, () => derived);
    await say('raw', () => subtle.exportKey('raw', derived));
  }
  await say('KW', () => subtle.deriveKey(algorithm, key, { name: 'AES-KW', length: 128 }, false, ['wrapKey']));
  await say('no length', () => subtle.deriveKey(algorithm, key, { name: 'AES-GCM' }, true, ['encrypt']));
  for (const length of [100, 136]) await say(`${length}`, () => subtle.deriveKey(algorithm, key, { name: 'AES-GCM', length }, true, ['encrypt']));
  for (const usages of [[], ['sign']]) await say(`${usages}`, () => subtle.deriveKey(algorithm, key, { name: 'AES-GCM', length: 256 }, true, usages));
  for (const target of ['PBKDF2', 'foo', 'AES-CBC', 5]) await say(JSON.stringify(target), () => subtle.deriveKey(algorithm, key, target, true, ['encrypt']));
  await say('usage', () => subtle.deriveKey(algorithm, onlyBits, { name: 'AES-GCM', length: 256 }, true, ['encrypt']));
  await say('bits', () => subtle.deriveBits(algorithm, key, 256));
}
