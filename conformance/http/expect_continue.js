// Expect: 100-continue.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const r = http.post(`http://${__ENV.PEERS}/continue`, 'twelve bytes', { headers: { Expect: '100-continue' } });
  check(r, { [`${r.status} ${r.body}`]: true });
}
