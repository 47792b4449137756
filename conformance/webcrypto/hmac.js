// HMAC with known results.
import { check } from 'k6';

const subtle = crypto.subtle;
const zeros = (n) => new Uint8Array(n);
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

export default async function () {
  for (const hash of ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512', { name: 'sha-256' }]) {
    const key = await subtle.importKey('raw', bytes('Jefe'), { name: 'HMAC', hash }, true, ['sign', 'verify']);
    const tag = await subtle.sign('HMAC', key, bytes('what do ya want for nothing?'));
    await say('key', () => key);
    await say('tag', () => tag);
    await say('verify', () => subtle.verify({ name: 'hmac' }, key, tag, bytes('what do ya want for nothing?')));
    await say('other', () => subtle.verify('HMAC', key, tag, bytes('nothing')));
    await say('short', () => subtle.verify('HMAC', key, zeros(3), bytes('nothing')));
    await say('empty', () => subtle.sign('HMAC', key, zeros(0)));
  }
}
