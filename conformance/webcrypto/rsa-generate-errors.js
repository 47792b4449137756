// generateKey() for RSA: parameters.
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
  const all = { name: 'RSA-PSS', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' };
  const without = (name) => { const left = { ...all }; delete left[name]; return left; };
  for (const name of ['modulusLength', 'publicExponent', 'hash']) await say(`no ${name}`, () => subtle.generateKey(without(name), true, ['sign']));
  for (const exponent of [[1, 0, 1], 'AQAB']) await say(`exponent ${exponent}`, () => subtle.generateKey({ ...all, publicExponent: exponent }, true, ['sign']));
  for (const exponent of [[2], [1], [], [3]]) await say(`exponent ${exponent}`, () => subtle.generateKey({ ...all, publicExponent: new Uint8Array(exponent) }, true, ['sign']));
  for (const modulusLength of [512, 0]) await say(`${modulusLength}`, () => subtle.generateKey({ ...all, modulusLength }, true, ['sign']));
  for (const hash of ['SHA-2', {}, 5, 'sha-256', 'MD5']) await say(JSON.stringify(hash), () => subtle.generateKey({ ...all, hash }, true, ['sign']));
  for (const usages of [[], ['encrypt'], ['sign', 'foo']]) { await say(`${usages}`, () => subtle.generateKey(all, true, usages)); await say(`OAEP ${usages}`, () => subtle.generateKey({ ...all, name: 'RSA-OAEP' }, true, usages.filter((u) => u !== 'encrypt'))); }
}
