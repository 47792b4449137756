// generateKey() for ECDSA and ECDH.
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
  for (const name of ['ECDSA', 'ECDH', 'ecdsa']) {
    const usages = name === 'ECDH' ? ['deriveKey', 'deriveBits'] : ['sign', 'verify'];
    for (const namedCurve of ['P-256', 'P-384', 'P-521', 'P-224', 'p-256', 5, undefined]) await say(`${name} ${namedCurve}`, () => subtle.generateKey({ name, namedCurve }, true, usages));
    for (const usage of ['encrypt', 'sign', 'verify', 'deriveKey', 'deriveBits', 'foo']) await say(`${name} ${usage}`, () => subtle.generateKey({ name, namedCurve: 'P-256' }, true, [usage]));
    await say(`${name} none`, () => subtle.generateKey({ name, namedCurve: 'P-256' }, true, []));
  }
}
