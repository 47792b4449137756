// Usages that are no list are thrown at the call; extractable is any value.
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
  for (const usages of ['encrypt', {}, 5, true])
    try { const p = subtle.generateKey({ name: 'AES-CBC', length: 128 }, true, usages); p.catch(() => {}); note('called'); }
    catch (e) { note(`${e.name} ${e.message}`); }
  for (const extractable of [undefined, null, 0, '', 'x', {}, 1])
    await say(JSON.stringify(extractable), () => subtle.generateKey({ name: 'AES-CBC', length: 128 }, extractable, ['encrypt']));
}
