// EC keys in every format: the same bytes and numbers.
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
  for (const name of ['ECDSA', 'ECDH']) {
    const algorithm = { name, namedCurve: 'P-256' };
    const own = await subtle.importKey('jwk', KEY, algorithm, true, name === 'ECDSA' ? ['sign'] : ['deriveBits']);
    const { kty, crv, x, y } = KEY;
    const theirs = await subtle.importKey('jwk', { kty, crv, x, y }, algorithm, true, name === 'ECDSA' ? ['verify'] : []);
    await say('own', () => own);
    await say('theirs', () => theirs);
    for (const format of ['pkcs8', 'jwk', 'raw', 'spki', 'x']) await say(format, () => subtle.exportKey(format, own));
    for (const format of ['raw', 'spki', 'jwk', 'pkcs8', 'x']) {
      await say(`public ${format}`, () => subtle.exportKey(format, theirs));
      if (format === 'raw' || format === 'spki') await say('again', async () => subtle.importKey(format, await subtle.exportKey(format, theirs), algorithm, true, name === 'ECDSA' ? ['verify'] : []));
    }
    await say('pkcs8 again', async () => subtle.importKey('pkcs8', await subtle.exportKey('pkcs8', own), algorithm, false, name === 'ECDSA' ? ['sign'] : ['deriveBits']));
  }
}
