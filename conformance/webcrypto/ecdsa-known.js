// ECDSA: signatures of RFC 6979 are right, whichever hash.
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

// The key of RFC 6979, A.2.5.
const KEY = { kty: 'EC', crv: 'P-256', x: 'YP7UuiVanTHJYet0xjVtaMBJuJI7Yfps5mliLmDyn7Y', y: 'eQP-EAi4vJmkGunpVii8ZPLxsgwtfp9Rd6PClNRGIpk', d: 'ya-p2EW6dRZrXCFXZ7HWk05Qw9s26JsSe4piKxIPZyE' };
const unhex = (text) => new Uint8Array(text.match(/../g).map((x) => parseInt(x, 16)));

export default async function () {
  const { kty, crv, x, y } = KEY;
  const key = await subtle.importKey('jwk', { kty, crv, x, y }, { name: 'ECDSA', namedCurve: 'P-256' }, true, ['verify']);
  const known = {
    'SHA-1': '61340c88c3aaebeb4f6d667f672ca9759a6ccaa9fa8811313039ee4a35471d326d7f147dac089441bb2e2fe8f7a3fa264b9c475098fdcf6e00d7c996e1b8b7eb',
    'SHA-256': 'efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8',
    'SHA-512': '8496a60b5e9b47c825488827e0495b0e3fa109ec4568fd3f8d1097678eb97f002362ab1adbe2b8adf9cb9edab740ea6049c028114f2460f96554f61fae3302fe' };
  for (const [hash, signature] of Object.entries(known))
    for (const message of ['sample', 'test']) await say(`${hash} ${message}`, () => subtle.verify({ name: 'ECDSA', hash }, key, unhex(signature), bytes(message)));
}
