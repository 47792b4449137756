// JSON Web Keys that are no RSA keys.
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
  const keys = [{}, { kty: 'RSA' }, { kty: 'EC' }, { kty: 'RSA', n: 'AQ' }, { kty: 'RSA', n: '', e: '' }, { kty: 'RSA', n: '$$$$', e: 'AQAB' }, { kty: 'RSA', n: 'AQ', e: '$' },
    { kty: 'RSA', n: 5, e: 'AQAB' }, { kty: 'RSA', n: 'AQ', e: {} }, 'text', 5, []];
  for (const key of keys) await say(JSON.stringify(key), () => subtle.importKey('jwk', key, { name: 'RSA-PSS', hash: 'SHA-256' }, true, ['verify']));
}
