// URLs with a port or a user and no host: a port alone makes it a name that does not exist.
import http from 'k6/http';
import { check } from 'k6';

export const options = { iterations: 1 };

export default function () {
  for (const url of ['http://:1/', 'http://:80', 'https://:443/', 'http://:/', 'http://user@:1/', 'http://@:1/', 'http://', 'http:///x', 'http://user@/']) {
    const response = http.get(url, { timeout: '5s' });
    check(response, { [`${url}: ${[response.status, response.error_code, response.error, response.url]}`]: true });
  }
}
