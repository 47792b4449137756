// generateKey() for RSA: keys, halves, usages.
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
  const publicExponent = new Uint8Array([1, 0, 1]);
  for (const [name, usages] of [['RSA-PSS', ['sign', 'verify']], ['RSASSA-PKCS1-v1_5', ['sign']], ['RSA-OAEP', ['encrypt', 'decrypt']], ['rsa-oaep', ['encrypt']]])
    await say(name, () => subtle.generateKey({ name, modulusLength: 2048, publicExponent, hash: 'SHA-256' }, false, usages));
  await say('zeros before', () => subtle.generateKey({ name: 'RSA-PSS', modulusLength: 2048, publicExponent: new Uint8Array([0, 1, 0, 1]), hash: { name: 'SHA-512' } }, true, ['verify']));
  await say('text length', () => subtle.generateKey({ name: 'RSA-PSS', modulusLength: '2048', publicExponent, hash: 'SHA-1' }, true, ['sign']));
}
