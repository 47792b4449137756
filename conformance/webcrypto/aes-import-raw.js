// importKey() of raw AES keys.
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
  for (const n of [0, 1, 15, 16, 24, 31, 32, 33]) await say(`${n}`, () => subtle.importKey('raw', zeros(n), 'AES-GCM', false, ['encrypt']));
  await say('buffer', () => subtle.importKey('raw', zeros(16).buffer, { name: 'AES-CTR' }, true, ['decrypt']));
  await say('u16', () => subtle.importKey('raw', new Uint16Array(8), 'AES-CBC', true, ['decrypt']));
  for (const data of ['abc', 5, [1], {}, null]) await say(JSON.stringify(data), () => subtle.importKey('raw', data === null ? new DataView(zeros(16).buffer) : data, 'AES-CBC', true, ['encrypt']));
  for (const usages of [[], ['sign'], ['encrypt', 'verify']]) await say(`${usages}`, () => subtle.importKey('raw', zeros(16), 'AES-CBC', true, usages));
}
