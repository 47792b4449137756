// Keys as objects: properties, what JSON shows, identity.
import { check } from 'k6';

const subtle = crypto.subtle;
const note = (name) => check(null, { [name]: () => true });
const shown = (key) => key.privateKey ? `pair ${shown(key.privateKey)} ${shown(key.publicKey)}` : key.kty ? jwk(key)
  : [key.type, key.extractable, key.algorithm.name, key.algorithm.length, key.algorithm.modulusLength, key.algorithm.namedCurve,
    key.algorithm.hash && key.algorithm.hash.name, key.usages.join('+')].filter((x) => x !== undefined).join(' ');

export default async function () {
  const key = await subtle.generateKey({ name: 'AES-CBC', length: 128 }, true, ['decrypt', 'encrypt']);
  note(`${key.type} ${key.extractable} ${key.algorithm.name} ${key.algorithm.length} ${key.usages} ${Array.isArray(key.usages)}`);
  note(`${key.usages === key.usages} ${Object.prototype.toString.call(key)} ${String(key)} ${typeof key}`);
  const { type, extractable, usages } = JSON.parse(JSON.stringify(key));
  note(JSON.stringify({ type, extractable, usages }));
  const hmac = await subtle.generateKey({ name: 'HMAC', hash: 'SHA-1' }, false, ['verify']);
  note(`${hmac.algorithm.hash.name} ${hmac.algorithm.length} ${hmac.algorithm.name} ${hmac.extractable}`);
  const pair = await subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-384' }, false, ['sign', 'verify']);
  note(`${shown(pair)} ${pair.privateKey !== pair.publicKey}`);
}
