// A rejection that nobody handles ends the iteration with an error.
import { check } from 'k6';

const subtle = crypto.subtle;
const zeros = (n) => new Uint8Array(n);
const note = (name) => check(null, { [name]: () => true });

export const options = { iterations: 2 };
export default async function () {
  note('before');
  await subtle.importKey('raw', zeros(3), 'AES-CBC', true, ['encrypt']);
  note('after');
}
