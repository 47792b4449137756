// importKey() for ECDSA: points that are none.
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

// The key of RFC 6979, A.2.5.
const KEY = { kty: 'EC', crv: 'P-256', x: 'YP7UuiVanTHJYet0xjVtaMBJuJI7Yfps5mliLmDyn7Y', y: 'eQP-EAi4vJmkGunpVii8ZPLxsgwtfp9Rd6PClNRGIpk', d: 'ya-p2EW6dRZrXCFXZ7HWk05Qw9s26JsSe4piKxIPZyE' };
const unhex = (text) => new Uint8Array(text.match(/../g).map((x) => parseInt(x, 16)));

export default async function () {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const point = new Uint8Array([4, ...unhex('60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb67903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299')]);
  await say('point', () => subtle.importKey('raw', point, algorithm, true, ['verify']));
  await say('compressed', () => subtle.importKey('raw', new Uint8Array([2, ...point.slice(1, 33)]), algorithm, true, ['verify']));
  for (const [name, data] of Object.entries({ empty: zeros(0), zero: zeros(1), four: new Uint8Array([4]), zeros: zeros(65), off: new Uint8Array([4, ...zeros(64)]), long: new Uint8Array([...point, 0]), short: point.slice(0, 64) }))
    await say(name, () => subtle.importKey('raw', data, algorithm, true, ['verify']));
  await say('other curve', () => subtle.importKey('raw', point, { name: 'ECDSA', namedCurve: 'P-384' }, true, ['verify']));
  await say('no curve', () => subtle.importKey('raw', point, { name: 'ECDSA' }, true, ['verify']));
  await say('unknown curve', () => subtle.importKey('raw', point, { name: 'ECDSA', namedCurve: 'Q' }, true, ['verify']));
  await say('unknown curve', () => subtle.importKey('raw', point, { name: 'ECDH', namedCurve: 'Q' }, true, []));
  await say('name only', () => subtle.importKey('raw', point, 'ECDSA', true, ['verify']));
}
