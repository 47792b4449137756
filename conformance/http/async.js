// asyncRequest() and Promise.all.
import http from 'k6/http';
import { check } from 'k6';
export default async function () {
  const url = `${__ENV.BASE_URL}/f/1`;
  const all = await Promise.all([http.asyncRequest('GET', url), http.asyncRequest('GET', url), http.asyncRequest('POST', `${__ENV.BASE_URL}/post`, 'x')]);
  check(all, { 'all there': (all) => all.every((r) => r.status === 200) });
}
