// AES-GCM with known results, with and without additional data.
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
  for (const n of [16, 24, 32]) {
    const key = await subtle.importKey('raw', zeros(n).fill(9), 'AES-GCM', true, ['encrypt', 'decrypt']);
    for (const additionalData of [undefined, bytes('more'), 'more', zeros(0), [1, 2]]) {
      const algorithm = { name: 'AES-GCM', iv: zeros(12).fill(5), additionalData };
      const sealed = await subtle.encrypt(algorithm, key, bytes('message'));
      await say(`${n} ${additionalData}`, () => sealed);
      await say(`${n} ${additionalData} back`, () => subtle.decrypt(algorithm, key, sealed));
    }
    await say(`${n} empty`, () => subtle.encrypt({ name: 'AES-GCM', iv: zeros(12) }, key, zeros(0)));
  }
}
