// Files in forms.
import http from 'k6/http';
import { check } from 'k6';
const file = http.file('contents', 'name.txt', 'text/plain');
export default function () {
  const r = http.post(`${__ENV.BASE_URL}/post`, { field: 'value', file });
  check(r, { [`form ${JSON.stringify(r.json('form'))} files ${JSON.stringify(r.json('files'))}`]: true });
}
