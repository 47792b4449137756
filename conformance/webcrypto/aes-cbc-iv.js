// AES-CBC: what may be an initialization vector.
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
  const key = await subtle.importKey('raw', zeros(32), 'AES-CBC', true, ['encrypt', 'decrypt']);
  const ivs = { ok: zeros(16), buffer: zeros(16).buffer, view: new DataView(zeros(16).buffer), u16: new Uint16Array(8), text: '1234567890123456',
    array: Array(16).fill(0), part: zeros(64).subarray(8, 24), short: zeros(15), long: zeros(17), none: undefined, null: null, number: 5, flag: true };
  for (const [name, iv] of Object.entries(ivs)) {
    await say(name, () => subtle.encrypt({ name: 'AES-CBC', iv }, key, zeros(1)));
    await say(`decrypt ${name}`, () => subtle.decrypt({ name: 'AES-CBC', iv }, key, zeros(16)));
  }
  await say('only a name', () => subtle.encrypt('AES-CBC', key, zeros(1)));
}
