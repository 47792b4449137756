// Connections that the server closes while they are kept: what is asked once more, and what fails.
// out: json
import http from 'k6/http';
import { check, sleep } from 'k6';
export default function () {
  const url = (path) => `http://${__ENV.PEERS}/${path}`;
  const shown = (r) => `${r.status} ${r.error_code} ${r.body} ${r.error.replace(/127\.0\.0\.1:\d+/g, 'HOST')}`;
  for (const method of ['GET', 'POST', 'PUT', 'HEAD', 'DELETE', 'OPTIONS']) {
    http.get(url('second'));
    check(1, { [`${method} on a connection that is closed when asked: ${shown(http.request(method, url('second'), method === 'POST' ? 'x' : null))}`]: true });
    http.get(url('idle'));
    sleep(0.1);
    check(1, { [`${method} after the connection was closed: ${shown(http.request(method, url('ok'), 'x'))}`]: true });
  }
}
