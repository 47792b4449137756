// The properties of a Response, in their order: of an answer, of a failure, as JSON, copied and changed.
import http from 'k6/http';
import { check } from 'k6';

export const options = { iterations: 1, throw: false };

const show = (name, value) => check(null, { [`${name}: ${value}`]: true });

export default function () {
  const found = http.get(`${__ENV.BASE_URL}/status/200`);
  const missing = http.get(`${__ENV.BASE_URL}/status/404`);
  const failed = http.get('http://127.0.0.1:1/');
  for (const [name, response] of Object.entries({ found, missing, failed })) {
    show(`${name} keys`, Object.keys(response));
    show(`${name} json`, Object.keys(JSON.parse(JSON.stringify(response))));
    show(`${name} entries`, Object.entries(response).map(([key, value]) => `${key}:${typeof value}`));
    show(`${name} copy`, Object.keys({ ...response }));
    show(`${name} numbers`, [response.status, response.error_code, response.error]);
    const listed = [];
    for (const key in response) listed.push(key);
    show(`${name} for in`, listed);
  }
  show('parts', ['request', 'timings', 'ocsp'].map((part) => `${part}: ${Object.keys(found[part])}`));
  found.status = 7;
  show('changed', [found.status, Object.keys(found).indexOf('status'), JSON.parse(JSON.stringify(found)).status]);
}
