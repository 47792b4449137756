// Response.json() with paths.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const r = http.post(`${__ENV.BASE_URL}/post`, JSON.stringify({ a: [{ b: 1 }, { b: 2 }], 'c.d': true }), { headers: { 'Content-Type': 'application/json' } });
  for (const path of ['json.a.#', 'json.a.1.b', 'json.a.#.b', 'json.c\\.d', 'json.none', 'json.a.#(b==2).b']) {
    check(r, { [`${path} ${JSON.stringify(r.json(path))}`]: true });
  }
}
