// JSON Web Keys that are no secrets.
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
  const keys = [{}, { kty: 'oct' }, { kty: 'RSA', k: 'AAAA' }, { kty: 'oct', k: '' }, { kty: 'oct', k: 5 }, { kty: 'oct', k: ['AA'] }, { kty: 'oct', k: '$$$$' },
    { kty: 'oct', k: 'AAAA$' }, { kty: 'oct', k: 'AAAAAAAAAAAAAAAAAAAAAA==' }, { kty: 'oct', k: 'AAA' }, { kty: 5, k: 'AAAA' }, 'text', 5, true, []];
  for (const key of keys) {
    await say(JSON.stringify(key), () => subtle.importKey('jwk', key, 'AES-CBC', true, ['encrypt']));
    await say(`hmac ${JSON.stringify(key)}`, () => subtle.importKey('jwk', key, { name: 'HMAC', hash: 'SHA-1' }, true, ['sign']));
  }
}
