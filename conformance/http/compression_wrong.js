// Compressions that do not exist.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  for (const compression of ['lzma', 'gzip,', 'gzip, x', 5]) {
    try {
      const r = http.post(`${__ENV.BASE_URL}/anything`, 'x', { compression });
      check(r, { [`${compression}: ${r.status} ${r.error_code} ${r.error}`]: true });
    } catch (error) { check(1, { [`${compression} throws ${error.message}`]: true }); }
  }
}
