// PBKDF2: salts, iterations, lengths.
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
  const key = await subtle.importKey('raw', bytes('password'), 'PBKDF2', false, ['deriveBits']);
  const bits = (changes, length = 160) => subtle.deriveBits({ name: 'PBKDF2', salt: bytes('salt'), iterations: 1, hash: 'SHA-1', ...changes }, key, length);
  for (const salt of ['salt', bytes('salt').buffer, new Uint8ClampedArray([1]), zeros(0), new DataView(zeros(4).buffer), [1], null, 5, {}]) await say(`salt ${JSON.stringify(salt)}`, () => bits({ salt }));
  for (const iterations of [0, null, 'x', 1.5, '2']) await say(`iterations ${iterations}`, () => bits({ iterations }));
  for (const hash of [null, 'MD5', 5, {}]) await say(`hash ${JSON.stringify(hash)}`, () => bits({ hash }));
  for (const length of [0, null, 7]) await say(`length ${length}`, () => bits({}, length));
  await say('name only', () => subtle.deriveBits('PBKDF2', key, 160));
}
