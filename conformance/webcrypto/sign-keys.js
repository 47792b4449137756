// sign() and verify(): keys of other algorithms, without the usage, no keys, other data.
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
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const signer = await subtle.importKey('raw', zeros(3), algorithm, true, ['sign']);
  const verifier = await subtle.importKey('raw', zeros(3), algorithm, true, ['verify']);
  await say('usage', () => subtle.sign('HMAC', verifier, zeros(1)));
  await say('usage', () => subtle.verify('HMAC', signer, zeros(1), zeros(1)));
  await say('other', () => subtle.sign('RSASSA-PKCS1-v1_5', signer, zeros(1)));
  await say('other', () => subtle.verify({ name: 'ECDSA', hash: 'SHA-1' }, verifier, zeros(1), zeros(1)));
  for (const name of ['foo', 'AES-CBC', 'SHA-1', 'ECDH']) await say(name, () => subtle.sign(name, signer, zeros(1)));
  for (const key of [{}]) { await say('key', () => subtle.sign('HMAC', key, zeros(1))); await say('key', () => subtle.verify('HMAC', key, zeros(1), zeros(1))); }
  for (const data of ['abc', 5, [1], {}, new DataView(zeros(1).buffer)]) { await say('data', () => subtle.sign('HMAC', signer, data)); await say('signature', () => subtle.verify('HMAC', verifier, data, zeros(1))); await say('data', () => subtle.verify('HMAC', verifier, zeros(1), data)); }
}
