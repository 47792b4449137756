// Forms, texts and bytes.
import http from 'k6/http';
import { check } from 'k6';
const url = `${__ENV.BASE_URL}/post`;
export default function () {
  const type = (r) => r.json('headers.Content-Type');
  const form = http.post(url, { b: '2', a: ['1', 'x y'] });
  check(form, { [`form ${type(form)} ${JSON.stringify(form.json('form'))}`]: true });
  const text = http.post(url, 'plain');
  check(text, { [`text ${type(text)} ${text.json('data')}`]: true });
  const bytes = http.post(url, new Uint8Array([104, 105]).buffer);
  check(bytes, { [`bytes ${type(bytes)} ${bytes.json('data')}`]: true });
  const json = http.post(url, JSON.stringify({ a: 1 }), { headers: { 'Content-Type': 'application/json' } });
  check(json, { [`json ${type(json)} ${json.json('json.a')}`]: true });
}
