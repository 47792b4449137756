// Parameters of a wrong type, one at a time.
import http from 'k6/http';
import { check } from 'k6';

const wrong = {
  headers: ['x', 5, null, [1], { a: null }, { a: { b: 1 } }, { a: [1, 2] }],
  cookies: ['x', 5, null, { a: null }, { a: 5 }, { a: {} }, { a: { value: 'v' } }],
  tags: ['x', 5, null, { a: null }, { a: { b: 1 } }, { a: 1, b: true }],
  timeout: ['x', '5', '', '1.5s', '1h2m', null, true, [], {}, NaN],
  redirects: ['x', '5', -1, 1.5, null, true, {}],
  responseType: ['x', 5, '', 'TEXT', true, null, undefined],
  responseCallback: ['x', 5, {}, null],
  compression: ['x', 5, '', 'gzip, x', 'GZIP', null, undefined],
  jar: ['x', 5, {}, null],
  throw: ['x', 0, null],
  auth: ['x', 5, null, {}],
  unknown: [1],
};

export default function () {
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      let outcome;
      try {
        const res = http.post(`${__ENV.BASE_URL}/post`, 'body', { [name]: value });
        outcome = `${res.status} ${res.error_code} ${res.error}`;
      } catch (e) {
        outcome = `threw ${e}`;
      }
      const shown = value === null ? 'null' : typeof value === 'object' ? JSON.stringify(value) : `${typeof value} ${value}`;
      check(0, { [`${name} ${shown}: ${outcome}`]: () => true });
    }
  }
}
