// Timeouts of all grammars, and such that are none.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  for (const timeout of ['1s', '1m', '1500', 1500, '1h30m', '1d', 0, '0s', -1, '-1s', 'x', '', {}, true, NaN, null]) {
    try {
      const r = http.get(`${__ENV.BASE_URL}/f/1`, { timeout });
      check(r, { [`${JSON.stringify(timeout)} ${String(timeout)} ${r.status} ${r.error_code} ${r.error}`]: true });
    } catch (error) { check(1, { [`${JSON.stringify(timeout)} ${String(timeout)} throws ${error.message}`]: true }); }
  }
}
