// Headers of a request: names, values, Host, Content-Length.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const send = (headers, body) => http.post(`${__ENV.BASE_URL}/post`, body || 'four', { headers });
  const got = send({ 'x-lower': 'a', 'X-Number': 5, 'X-True': true, 'X-Null': null, 'X-Undefined': undefined, 'X-List': ['a', 'b'], 'X-Empty': '', 'X-Blank': '  a  b ', 'X-Ä': 'x' });
  check(got, { [`${got.status} ${got.error}`]: true });
  const r = send({ 'x-lower': 'a', 'X-Number': 5, 'X-True': true, 'X-Null': null, 'X-Undefined': undefined, 'X-List': ['a', 'b'], 'X-Empty': '', 'X-Blank': '  a  b ' });
  for (const name of ['X-Lower', 'X-Number', 'X-True', 'X-Null', 'X-Undefined', 'X-List', 'X-Empty', 'X-Blank']) check(r, { [`${name} ${JSON.stringify(r.json(`headers.${name}`))}`]: true });
  check(send({ Host: 'shop.test' }), { [`host ${send({ Host: 'shop.test' }).json('headers.Host')}`]: true });
  check(send({ host: 'low.test' }), { [`host in lower case ${send({ host: 'low.test' }).json('headers.Host')}`]: true });
  check(send({ 'Content-Length': '4' }), { 'the right length': (r) => r.json('data') === 'four' });
  check(send({ 'Content-Length': '99' }), { 'a wrong length is replaced': (r) => r.json('data') === 'four' && r.json('headers.Content-Length') === '4' });
  check(send({ 'content-length': '1' }), { 'in lower case': (r) => r.json('data') === 'four' });
  for (const headers of [{ 'A B': 'x' }, { A: 'x\ny' }, { 'A:': 'x' }, { '': 'x' }]) {
    const bad = send(headers);
    check(bad, { [`${JSON.stringify(headers)}: ${bad.status} ${bad.error_code} ${bad.error}`]: true });
  }
}
