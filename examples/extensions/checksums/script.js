// Functions of a WebAssembly module, imported as if it were JavaScript.
//
//   onrush run examples/extensions/checksums/script.js
//
// checksums.wasm was made from checksums.rs; README.md says how.
import { check } from 'k6';
import { card, crc32, luhn } from './checksums.wasm';

export const options = { vus: 2, iterations: 10 };

export default function () {
  const number = card('4000', 16);
  check(number, {
    'a card has 16 digits': (n) => /^4000\d{12}$/.test(n),
    'its check digit is right': (n) => luhn(n.slice(0, -1)) === n,
    'a checksum of text': () => crc32('123456789') === 0xcbf43926,
    'the same of bytes': () => crc32(new Uint8Array([49, 50, 51]).buffer) === crc32('123'),
  });
  try {
    luhn('12a4');
  } catch (error) {
    check(error, { 'errors name extension and function': (e) => e.message === `checksums.wasm: luhn(): 'a' is not a digit` });
  }
}
