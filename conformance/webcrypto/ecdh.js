// ECDH: both sides agree, on every curve.
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
  for (const namedCurve of ['P-256', 'P-384', 'P-521']) {
    const [a, b] = [await subtle.generateKey({ name: 'ECDH', namedCurve }, true, ['deriveBits']), await subtle.generateKey({ name: 'ECDH', namedCurve }, true, ['deriveBits'])];
    for (const length of [8, 128, 256]) {
      const one = await subtle.deriveBits({ name: 'ECDH', public: b.publicKey }, a.privateKey, length);
      const other = await subtle.deriveBits({ name: 'ecdh', public: a.publicKey }, b.privateKey, length);
      note(`${namedCurve} ${length} ${one.byteLength} ${hex(one) === hex(other)}`);
    }
  }
  const algorithm = { name: 'ECDH', namedCurve: 'P-256' };
  const own = await subtle.importKey('jwk', { kty: 'EC', crv: 'P-256', x: '2tC2U5Qi5ZpYKxYHxMC9xPZ8FhXqOLA3FAgFNM7GKto'.replace(/.*/, 'YP7UuiVanTHJYet0xjVtaMBJuJI7Yfps5mliLmDyn7Y'), y: 'eQP-EAi4vJmkGunpVii8ZPLxsgwtfp9Rd6PClNRGIpk', d: 'ya-p2EW6dRZrXCFXZ7HWk05Qw9s26JsSe4piKxIPZyE' }, algorithm, true, ['deriveBits']);
  const point = 'd12dfb5289c8d4f81208b70270398c342296970a0bccb74c736fc7554494bf6356fbf3ca366cc23e8157854c13c58d6aac23f046ada30f8353e74f33039872ab';
  const theirs = await subtle.importKey('raw', new Uint8Array([4, ...point.match(/../g).map((x) => parseInt(x, 16))]), algorithm, true, []);
  await say('known', () => subtle.deriveBits({ name: 'ECDH', public: theirs }, own, 256));
}
