// Parts of http.file: names, types, data of all kinds.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const url = `${__ENV.BASE_URL}/post`;
  const plain = http.file('text');
  check(plain, { [`defaults ${typeof plain.data} ${/^\d+$/.test(plain.filename)} ${plain.content_type}`]: true });
  check(http.file(new Uint8Array([65]).buffer, 'b', 'c/d'), { [`keys ${Object.keys(http.file('x', 'y', 'z')).sort()}`]: true });
  const r = http.post(url, { one: http.file('1', 'one.txt', 'text/plain'), two: http.file(new Uint8Array([50]).buffer, 'tw"o.txt'), field: 'v', number: 5, list: ['a', 'b'] });
  check(r, { [`form ${JSON.stringify(r.json('form'))}`]: true, [`files ${JSON.stringify(['one', 'two'].map((name) => { const f = r.json(`files.${name}`); return [f.filename, f.content_type, f.size]; }))}`]: true });
  for (const wrong of [undefined, null, 5, {}]) {
    try { http.file(wrong, 'x'); check(1, { [`${wrong} is a file`]: true }); } catch (error) { check(1, { [`${wrong} throws ${error.message}`]: true }); }
  }
}
