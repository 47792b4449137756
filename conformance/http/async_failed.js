// asyncRequest() that fails with throw rejects.
import http from 'k6/http';
import { check } from 'k6';
export default async function () {
  const r = await http.asyncRequest('GET', 'http://127.0.0.1:1/');
  check(r, { [`status ${r.status}`]: true });
  try { await http.asyncRequest('GET', 'http://127.0.0.1:1/', null, { throw: true }); } catch (error) { check(1, { rejected: true }); }
}
