// exportKey(): raw keys, formats, keys that may not leave, no keys.
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
  const key = await subtle.importKey('raw', zeros(16), 'AES-CBC', true, ['encrypt']);
  const locked = await subtle.importKey('raw', zeros(16), 'AES-CBC', false, ['encrypt']);
  for (const format of ['raw', 'spki', 'pkcs8', 'x', 'RAW', '']) await say(format, () => subtle.exportKey(format, key));
  await say('locked', () => subtle.exportKey('raw', locked));
  for (const other of [{}, 'x', 5, { type: 'secret', extractable: true, algorithm: { name: 'AES-CBC' }, usages: [] }])
    await say(JSON.stringify(other), () => subtle.exportKey('raw', other));
}
