// getRandomValues(): what it does not fill.
import { check } from 'k6';

const zeros = (n) => new Uint8Array(n);
const note = (name) => check(null, { [name]: () => true });

export default async function () {
  for (const [name, value] of Object.entries({ f32: new Float32Array(1), f64: new Float64Array(1), big: new BigInt64Array(1), array: [1],
    object: {}, buffer: new ArrayBuffer(8), view: new DataView(new ArrayBuffer(8)), many: zeros(65537) }))
    try { crypto.getRandomValues(value); note(`${name}: filled`); }
    catch (e) { note(`${name}: ${e.name} | ${e.message} | ${e.value.name} | ${e.value.message} | ${e instanceof Error}`); }
}
