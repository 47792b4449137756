// AES-GCM: lengths of tags.
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
  const key = await subtle.importKey('raw', zeros(16), 'AES-GCM', true, ['encrypt', 'decrypt']);
  for (const tagLength of [32, 64, 96, 104, 112, 120, 128, 0, 1, -1, '96', 'x', null, 129, 352, 96.5]) {
    const algorithm = { name: 'AES-GCM', iv: zeros(12), tagLength };
    await say(`${tagLength}`, () => subtle.encrypt(algorithm, key, zeros(3)));
    await say(`${tagLength} back`, async () => subtle.decrypt(algorithm, key, await subtle.encrypt(algorithm, key, zeros(3))));
    await say(`${tagLength} wrong`, () => subtle.decrypt(algorithm, key, zeros(40)));
  }
}
