// Names of algorithms are exact.
// files: results.js
import crypto from 'k6/crypto';
import { report, values } from './results.js';

const cases = Object.entries(values).filter(([name]) => !['function', 'object without prototype', 'Date'].includes(name));

export default function () {
  report(cases.map(([name, value]) => [name, () => crypto.hmac(value, 'key', 'data', 'hex')]));
  report(['SHA256', 'sha-256', 'sha224', 'sha512/256', 'sha512-256', 'sha3_256', 'blake2b', ' md5', 'md2', 'constructor', '__proto__'].map((name) => [
    name,
    () => crypto.hmac(name, 'key', 'data', 'hex'),
  ]));
  report(['SHA256', 'sha-1', ''].map((name) => [`createHMAC ${name}`, () => crypto.createHMAC(name, 'key')]));
}
