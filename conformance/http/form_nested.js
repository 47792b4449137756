// What values that forms have no text for become.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const values = { nothing: { a: null, b: undefined }, nested: { a: { b: 1 } }, lists: { a: [[1, 2], [3]] }, objects: { a: [{ b: 1 }] }, date: { d: new Date(0) } };
  for (const name of Object.keys(values)) check(1, { [`${name}: ${http.post(`${__ENV.BASE_URL}/post`, values[name]).request.body}`]: true });
}
