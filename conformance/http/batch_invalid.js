// A batch with an invalid address: nothing of it is sent.
// out: json
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const url = `${__ENV.BASE_URL}/f/1`;
  const list = http.batch([url, 'http://[bad', url]);
  check(1, { [`${JSON.stringify(list.map((r) => r && [r.status, r.error_code, r.error]))}`]: true });
  const named = http.batch({ good: url, bad: 'http://[bad' });
  check(1, { [`${Object.keys(named).sort()} ${named.bad && named.bad.error_code}`]: true });
  try { http.batch([['GET', 'http://[bad', null, { throw: true }], url]); check(1, { 'does not throw': true }); } catch (error) { check(1, { [`throws ${error.message}`]: true }); }
}
