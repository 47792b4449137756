// asyncRequest() does not wait; the order of answers is that of their delays.
import http from 'k6/http';
import { check } from 'k6';
export default async function () {
  const order = [];
  const began = Date.now();
  const get = async (delay) => { await http.asyncRequest('GET', `${__ENV.BASE_URL}/delay/${delay}`); order.push(delay); };
  await Promise.all([get(0.4), get(0.1), get(0.25)]);
  check(1, { [`order ${order}`]: true, 'at once': () => Date.now() - began < 650 });
  const errors = [];
  for (const args of [['GET'], [], ['GET', null], ['GET', 'http://[bad']]) {
    try { const r = await http.asyncRequest(...args); errors.push(`${r.status} ${r.error_code}`); } catch (error) { errors.push(error.message); }
  }
  check(1, { [`wrong ${errors.join('; ')}`.replaceAll('::', ';;')]: true });
}
