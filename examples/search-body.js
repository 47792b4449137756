// Looks for text in the bodies of responses, as most tests do: with `includes`,
// with `indexOf` and with a regular expression, near the end of an 11 KB page.
//
//   onrush run --vus 100 --duration 10s examples/search-body.js
//
// BASE_URL   the built-in target (default http://127.0.0.1:8080), whose front page is searched
// URL        another page with that text, instead
// REPEAT     how often each body is searched (default 1; 0 leaves the body alone).
//            Two runs that differ only in REPEAT tell what one search costs.
import http from 'k6/http';
import { check } from 'k6';

const URL = __ENV.URL || `${__ENV.BASE_URL || 'http://127.0.0.1:8080'}/`;
const REPEAT = Number(__ENV.REPEAT || 1);

export const options = { vus: 10, duration: '10s' };

function search(body) {
  return body.includes('Thank whoever stayed up')
    && body.indexOf('what nobody will use') > 0
    && /Do not trust a (\w+) number/.exec(body)[1] === 'round';
}

export default function () {
  const res = http.get(URL);
  let found = true;
  for (let i = 0; i < REPEAT; i++) found = search(res.body) && found;
  check(res, { 'status is 200': (r) => r.status === 200, 'all was found': () => found });
}
