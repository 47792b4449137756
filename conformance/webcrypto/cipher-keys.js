// encrypt() and decrypt(): keys of other algorithms, without the usage, no keys.
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
  const cbc = await subtle.importKey('raw', zeros(16), 'AES-CBC', true, ['encrypt', 'decrypt']);
  const onlyDecrypt = await subtle.importKey('raw', zeros(16), 'AES-CBC', true, ['decrypt']);
  const onlyEncrypt = await subtle.importKey('raw', zeros(16), 'AES-CBC', true, ['encrypt']);
  const algorithm = { name: 'AES-CBC', iv: zeros(16) };
  await say('usage', () => subtle.encrypt(algorithm, onlyDecrypt, zeros(1)));
  await say('usage', () => subtle.decrypt(algorithm, onlyEncrypt, zeros(16)));
  await say('mode', () => subtle.encrypt({ name: 'AES-CTR', counter: zeros(16), length: 64 }, cbc, zeros(1)));
  await say('mode', () => subtle.decrypt({ name: 'AES-GCM', iv: zeros(12) }, cbc, zeros(16)));
  await say('hmac', () => subtle.encrypt('HMAC', cbc, zeros(1)));
  await say('foo', () => subtle.decrypt({ name: 'foo' }, cbc, zeros(1)));
  for (const key of [{}, 'x']) { await say('key', () => subtle.encrypt(algorithm, key, zeros(1))); await say('key', () => subtle.decrypt(algorithm, key, zeros(16))); }
  for (const data of ['abc', [1], {}, 5, new DataView(zeros(4).buffer)]) await say('data', () => subtle.encrypt(algorithm, cbc, data));
}
