// Request bodies that are compressed.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  for (const compression of ['gzip', 'deflate', 'br', 'zstd', 'gzip, br', ' gzip ', '', 'GZIP']) {
    const r = http.post(`${__ENV.BASE_URL}/anything`, 'x'.repeat(5000), { compression });
    const small = r.status === 200 && Number(r.json('headers.Content-Length')) < 1000;
    check(r, { [`${compression}: ${r.status} ${r.error} ${r.status === 200 ? r.json('headers.Content-Encoding') : ''} ${small}`]: true });
  }
  const own = http.post(`${__ENV.BASE_URL}/anything`, 'x', { compression: 'gzip', headers: { 'Content-Encoding': 'own' } });
  check(own, { [`own ${own.json('headers.Content-Encoding')}`]: true });
  const none = http.post(`${__ENV.BASE_URL}/anything`, null, { compression: 'gzip' });
  check(none, { [`no body ${none.status} ${none.json('headers.Content-Encoding')}`]: true });
}
