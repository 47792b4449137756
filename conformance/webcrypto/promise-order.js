// Promises are settled after the code and the microtasks that follow the call.
import { check } from 'k6';

const subtle = crypto.subtle;
const zeros = (n) => new Uint8Array(n);
const note = (name) => check(null, { [name]: () => true });

export default async function () {
  const order = [];
  const call = subtle.digest('SHA-1', zeros(1)).then(() => order.push('digest'));
  Promise.resolve().then(() => order.push('first')).then(() => order.push('second')).then(() => order.push('third'));
  order.push('code');
  await call;
  note(order.join());
  const all = await Promise.all([1, 2, 3].map((n) => subtle.digest('SHA-1', zeros(n))));
  note(all.map((b) => b.byteLength).join());
}
