// generateKey() for AES: lengths, usages, and how the key looks.
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
  for (const name of ['AES-CBC', 'AES-CTR', 'AES-GCM', 'aes-gcm'])
    for (const length of [128, 192, 256, 127, 0, -1, '128', 128.5, 'x'])
      await say(`${name} ${length}`, () => subtle.generateKey({ name, length }, true, ['encrypt', 'decrypt']));
  await say('KW', () => subtle.generateKey({ name: 'AES-KW', length: 128 }, true, ['wrapKey', 'unwrapKey']));
  await say('no length', () => subtle.generateKey({ name: 'AES-GCM' }, true, ['encrypt']));
  await say('null', () => subtle.generateKey({ name: 'AES-GCM', length: null }, true, ['encrypt']));
}
