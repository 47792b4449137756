// A jar of its own for some requests.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const jar = new http.CookieJar();
  jar.set(__ENV.BASE_URL, 'own', '1');
  const own = http.get(`${__ENV.BASE_URL}/cookies`, { jar });
  const usual = http.get(`${__ENV.BASE_URL}/cookies`);
  check(1, { [`own ${JSON.stringify(own.json('cookies'))}`]: true, [`usual ${JSON.stringify(usual.json('cookies'))}`]: true });
}
