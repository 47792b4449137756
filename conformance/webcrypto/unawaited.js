// A promise nobody waits for keeps the iteration alive.
import { check } from 'k6';

const subtle = crypto.subtle;
const zeros = (n) => new Uint8Array(n);
const hex = (b) => Array.from(new Uint8Array(b), (x) => x.toString(16).padStart(2, '0')).join('');
const note = (name) => check(null, { [name]: () => true });

export default async function () {
  subtle.digest('SHA-1', zeros(1)).then((d) => note(hex(d)));
  setTimeout(() => subtle.digest('SHA-1', zeros(2)).then((d) => note(hex(d))), 1);
}
