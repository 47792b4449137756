// With throw, the exception says what went wrong.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  for (const [url, params] of [
    ['http://127.0.0.1:1/', {}], [`http://${__ENV.PEERS}/garbage`, {}], ['http://[::1', {}],
    [`${__ENV.BASE_URL}/delay/3`, { timeout: 100 }], [`http://${__ENV.PEERS}/switching`, { throw: false }],
  ]) {
    try {
      http.get(url, { throw: true, ...params });
    } catch (error) {
      check(error, { [`${String(error).split(__ENV.PEERS).join('PEERS').split(__ENV.BASE_URL).join('BASE')}`]: true });
    }
  }
}
