// Several VUs at once: each has keys of its own.
import { check } from 'k6';

const subtle = crypto.subtle;
const zeros = (n) => new Uint8Array(n);
const hex = (b) => Array.from(new Uint8Array(b), (x) => x.toString(16).padStart(2, '0')).join('');
const note = (name) => check(null, { [name]: () => true });

export const options = { vus: 5, iterations: 20 };
export default async function () {
  const raw = zeros(16).map(() => 42);
  const key = await subtle.importKey('raw', raw, 'AES-GCM', true, ['encrypt', 'decrypt']);
  const iv = crypto.getRandomValues(zeros(12));
  const sealed = await subtle.encrypt({ name: 'AES-GCM', iv }, key, raw);
  note(hex(await subtle.decrypt({ name: 'AES-GCM', iv }, key, sealed)));
}
