// Response.json() of values of all types.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const echo = (data) => http.post(`${__ENV.BASE_URL}/post`, data).json('json');
  for (const data of ['1', '"text"', 'true', 'null', '[1,[2]]', '{"a":{"b":[]}}', '1e3', '12345678901234567890', '0.1', '"\\u00e4\\ud83d\\ude00"', '-0']) {
    const value = echo(data);
    check(1, { [`${data} is ${typeof value} ${JSON.stringify(value)}`]: true });
  }
  const r = http.get(`${__ENV.BASE_URL}/json`);
  check(r, { 'can be changed': (r) => { r.json().own = 1; return true; } });
  check(http.get(`${__ENV.BASE_URL}/json`, { responseType: 'binary' }), { 'of bytes': (r) => typeof r.json() === 'object' });
}
