// JSON Web Keys that are no EC keys.
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

// The key of RFC 6979, A.2.5.
const KEY = { kty: 'EC', crv: 'P-256', x: 'YP7UuiVanTHJYet0xjVtaMBJuJI7Yfps5mliLmDyn7Y', y: 'eQP-EAi4vJmkGunpVii8ZPLxsgwtfp9Rd6PClNRGIpk', d: 'ya-p2EW6dRZrXCFXZ7HWk05Qw9s26JsSe4piKxIPZyE' };
const unhex = (text) => new Uint8Array(text.match(/../g).map((x) => parseInt(x, 16)));

export default async function () {
  const { kty, crv, x, y, d } = KEY;
  const keys = [{}, { kty: 'EC' }, { kty, x, y }, { kty, crv, y }, { kty, crv, x }, { kty, crv: 'P-224', x, y }, { kty, crv, x: '$$', y }, { kty, crv, x, y: '$' },
    { kty, crv, x, y, d: '$$' }, { kty, crv, x: 5, y }, { kty, crv, x, y, d: 5 }, { kty: 'RSA', crv, x, y }, [], 'text', 5];
  for (const key of keys)
    for (const name of ['ECDSA', 'ECDH']) await say(`${name} ${JSON.stringify(key)}`, () => subtle.importKey('jwk', key, { name, namedCurve: 'P-256' }, true, ['sign']));
  await say('no usages', () => subtle.importKey('jwk', KEY, { name: 'ECDSA', namedCurve: 'P-256' }, true, []));
  await say('other usages', () => subtle.importKey('jwk', KEY, { name: 'ECDSA', namedCurve: 'P-256' }, true, ['encrypt', 'foo']));
  await say('ignored', () => subtle.importKey('jwk', { kty, crv, x, y, key_ops: ['x'], use: 'enc', alg: 'ES384', ext: false }, { name: 'ECDSA', namedCurve: 'P-256' }, true, ['verify']));
}
