// Headers that are sent without being asked for.
import http from 'k6/http';
import { check } from 'k6';
export const options = { userAgent: 'agent/1' };
const host = __ENV.BASE_URL.replace('http://', '');
export default function () {
  const shown = (r) => Object.entries(r.json('headers')).sort().map(([name, value]) => `${name}=${value}`).join('; ').replaceAll(host, 'HOST');
  check(1, { [`get ${shown(http.get(`${__ENV.BASE_URL}/anything`))}`]: true });
  check(1, { [`post ${shown(http.post(`${__ENV.BASE_URL}/anything`, 'x'))}`]: true });
  check(1, { [`post without a body ${shown(http.post(`${__ENV.BASE_URL}/anything`))}`]: true });
  check(1, { [`put ${shown(http.put(`${__ENV.BASE_URL}/anything`, 'x'))}`]: true });
  check(1, { [`delete ${shown(http.del(`${__ENV.BASE_URL}/anything`))}`]: true });
  check(1, { [`delete with a body ${shown(http.del(`${__ENV.BASE_URL}/anything`, 'x'))}`]: true });
  check(1, { [`form ${shown(http.post(`${__ENV.BASE_URL}/anything`, { a: 1 }))}`]: true });
  check(1, { [`no agent ${shown(http.get(`${__ENV.BASE_URL}/anything`, { headers: { 'User-Agent': '' } }))}`]: true });
  check(1, { [`get with a body ${shown(http.request('GET', `${__ENV.BASE_URL}/anything`, 'x'))}`]: true });
}
