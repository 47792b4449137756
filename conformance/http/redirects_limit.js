// A limit on redirects, of the request and of the options.
import http from 'k6/http';
import { check } from 'k6';
export const options = { maxRedirects: 2 };
export default function () {
  for (const redirects of [undefined, 0, 1, 5]) {
    const response = http.get(`${__ENV.BASE_URL}/redirect/3`, redirects === undefined ? {} : { redirects });
    check(response, { [`redirects ${redirects} status ${response.status}`]: true });
  }
}
