// Arguments nobody asked for, and such that are missing.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const url = `${__ENV.BASE_URL}/anything`;
  check(http.get(url, {}, { headers: { A: 'b' } }), { 'a third one is ignored': (r) => r.json('headers.A') === undefined });
  check(http.get(url, null), { 'null params': (r) => r.status === 200 });
  check(http.post(url), { 'no body': (r) => r.json('data') === '' });
  check(http.post(url, undefined, undefined), { 'undefined body': (r) => r.json('data') === '' });
  for (const wrong of [undefined, null, 5, {}, ['x']]) {
    try {
      const r = http.get(wrong);
      check(r, { [`${JSON.stringify(wrong)}: ${r.status} ${r.error_code}`]: true });
    } catch (error) { check(error, { [`${JSON.stringify(wrong)} throws ${error.message}`]: true }); }
  }
}
