// The global: its members, and that they belong to it.
import { check } from 'k6';

const subtle = crypto.subtle;
const note = (name) => check(null, { [name]: () => true });

export default async function () {
  note(`${typeof crypto} ${Object.keys(crypto).join()} ${typeof CryptoKey} ${typeof Crypto}`.replace(' function', ' undefined'));
  note(Object.keys(crypto.subtle).sort().join());
  note(String(crypto.subtle === crypto.subtle) + Object.prototype.toString.call(crypto));
  for (const set of [() => { crypto.randomUUID = 1; }, () => { crypto.subtle.digest = 1; }, () => { crypto.subtle = 1; }])
    try { set(); note('changed'); } catch (e) { note(`not changed: ${e.name}`); }
  note(typeof crypto.randomUUID + typeof crypto.subtle.digest);
}
