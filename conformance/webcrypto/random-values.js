// getRandomValues(): arrays of integers are filled and returned.
import { check } from 'k6';

const zeros = (n) => new Uint8Array(n);
const note = (name) => check(null, { [name]: () => true });

export default async function () {
  for (const T of [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array]) {
    const array = new T(64);
    note(`${T.name} ${crypto.getRandomValues(array) === array} ${array.some((x) => x !== 0)} ${array.length}`);
  }
  const whole = zeros(64);
  crypto.getRandomValues(whole.subarray(16, 48));
  note(`${whole.slice(0, 16).every((x) => x === 0)} ${whole.slice(16, 48).some((x) => x !== 0)} ${whole.slice(48).every((x) => x === 0)}`);
  note(`${crypto.getRandomValues(zeros(0)).length} ${crypto.getRandomValues(zeros(65536)).length}`);
}
