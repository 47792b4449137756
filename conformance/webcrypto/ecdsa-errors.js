// ECDSA: hashes, keys, signatures.
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
  const pair = await subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
  const agreeing = await subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits']);
  for (const hash of [undefined, 'MD5', 5, {}]) await say(JSON.stringify(hash), () => subtle.sign({ name: 'ECDSA', hash }, pair.privateKey, zeros(1)));
  const algorithm = { name: 'ECDSA', hash: 'SHA-256' };
  await say('name only', () => subtle.sign('ECDSA', pair.privateKey, zeros(1)));
  await say('public', () => subtle.sign(algorithm, pair.publicKey, zeros(1)));
  await say('private', () => subtle.verify(algorithm, pair.privateKey, zeros(1), zeros(1)));
  await say('ECDH', () => subtle.sign(algorithm, agreeing.privateKey, zeros(1)));
  for (const n of [0, 63, 64, 65]) await say(`${n}`, () => subtle.verify(algorithm, pair.publicKey, zeros(n), zeros(1)));
}
