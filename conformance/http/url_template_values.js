// What http.url gives: its properties, as JSON, and with a URL that is invalid.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const url = http.url`http://user:secret@host/${1}/x`;
  check(1, {
    [JSON.stringify(url)]: true,
    [`${url.name} ${url.url} ${url.clean_url}`]: true,
    [`${{ ...url }.name}`]: true,
  });
  for (const make of [() => http.url`http://[bad/${1}`, () => http.url`://x`, () => http.url`http://h:x/`]) {
    try {
      make();
      check(1, { 'no error': true });
    } catch (error) {
      check(1, { [`${error.name} ${error.message}`]: true });
    }
  }
}
