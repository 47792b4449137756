// Callbacks that are none.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  for (const wrong of [5, 'x', {}, undefined]) {
    try { http.setResponseCallback(wrong); check(1, { [`set ${wrong} works`]: true }); } catch (error) { check(1, { [`set ${wrong} throws ${error.message}`]: true }); }
    try {
      const r = http.get(`${__ENV.BASE_URL}/get`, { responseCallback: wrong });
      check(r, { [`${wrong} ${r.status} ${r.error}`]: true });
    } catch (error) { check(1, { [`${wrong} throws ${error.message}`]: true }); }
  }
}
