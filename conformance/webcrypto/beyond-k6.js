// What k6 1.8 does not have and Onrush has: wrapping, Curve25519, HKDF, more derived keys.
import { check } from 'k6';

const subtle = crypto.subtle;
const zeros = (n) => new Uint8Array(n);
const note = (name) => check(null, { [name]: () => true });

export default async function () {
  const outcome = async (label, call) => { try { await call(); note(`${label}: works`); } catch (e) { note(`${label}: ${String(e)}`); } };
  const wrapping = await subtle.importKey('raw', zeros(16), 'AES-KW', true, ['wrapKey', 'unwrapKey']);
  const key = await subtle.importKey('raw', zeros(16), 'AES-CBC', true, ['encrypt']);
  await outcome('wrapKey', () => subtle.wrapKey('raw', key, wrapping, 'AES-KW'));
  await outcome('export KW', () => subtle.exportKey('raw', wrapping));
  for (const name of ['Ed25519', 'X25519']) await outcome(name, () => subtle.generateKey(name, true, name === 'Ed25519' ? ['sign'] : ['deriveBits']));
  await outcome('HKDF', () => subtle.importKey('raw', zeros(3), 'HKDF', false, ['deriveBits']));
  const password = await subtle.importKey('raw', zeros(3), 'PBKDF2', false, ['deriveKey']);
  await outcome('HMAC', () => subtle.deriveKey({ name: 'PBKDF2', salt: zeros(1), iterations: 1, hash: 'SHA-1' }, password, { name: 'HMAC', hash: 'SHA-1' }, true, ['sign']));
  const pair = await subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveKey']);
  await outcome('ECDH', () => subtle.deriveKey({ name: 'ECDH', public: pair.publicKey }, pair.privateKey, { name: 'AES-GCM', length: 128 }, true, ['encrypt']));
}
