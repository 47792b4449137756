// Request bodies that are compressed.
import http from 'k6/http';
import { check } from 'k6';

export default function () {
  const body = 'compress me '.repeat(50);
  for (const compression of ['gzip', 'deflate', 'br', 'zstd', 'gzip, deflate', 'gzip,br', 'deflate, gzip, zstd']) {
    const res = http.post(`${__ENV.BASE_URL}/post`, body, { compression });
    check(res, { [`${compression}: ${res.status} ${res.json('headers.Content-Encoding')} ${res.request.headers['Content-Encoding']}`]: true });
  }
  const own = http.post(`${__ENV.BASE_URL}/post`, body, { compression: 'gzip', headers: { 'Content-Encoding': 'x-own' } });
  check(own, { [`own ${own.status} ${own.json('headers.Content-Encoding')}`]: true });
  const empty = http.post(`${__ENV.BASE_URL}/post`, '', { compression: 'gzip' });
  check(empty, { [`empty ${empty.status} ${empty.json('headers.Content-Encoding')}`]: true });
  const none = http.post(`${__ENV.BASE_URL}/post`, null, { compression: 'gzip' });
  check(none, { [`none ${none.status} ${none.json('headers.Content-Encoding')}`]: true });
  const length = http.post(`${__ENV.BASE_URL}/post`, 'abc', { headers: { 'Content-Length': '7' } });
  check(length, { [`length ${length.status} ${length.json('headers.Content-Length')} ${length.json('data')}`]: true });
}
