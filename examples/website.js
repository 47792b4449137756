// A visitor of a web site: reads the front page with its assets, pauses, and
// logs in through a form with a csrf token. Groups, a batch, checks, custom
// metrics, thresholds and cookies in one script.
//
//   onrush target &
//   onrush run --vus 100 --duration 1m examples/website.js
//
// The site is called test.k6.local, and the `hosts` option says where that is;
// no DNS entry is needed.
//
// TARGET     address and port of the site (default 127.0.0.1:8080)
// BASE_URL   its address as visitors write it (default http://test.k6.local)
// SLEEP      seconds a visitor thinks between two pages (default 3)
import http from 'k6/http';
import { check, group, sleep } from 'k6';
import { Counter, Rate, Trend } from 'k6/metrics';

const BASE_URL = __ENV.BASE_URL || 'http://test.k6.local';
const THINK_SECONDS = __ENV.SLEEP || 3;

// How many different front pages there are: each has an address of its own,
// which the tag `name` below folds into one time series.
const PAGES = 2000;

// Only the first one may read messages.
const VISITORS = [
  { login: 'admin', password: '123' },
  { login: 'test_user', password: '1234' },
  { login: 'guest', password: 'secret' },
];

export const options = {
  vus: 20,
  duration: '30s',
  hosts: { 'test.k6.local': __ENV.TARGET || '127.0.0.1:8080' },
  thresholds: {
    http_req_duration: ['p(95)<500'],
    'http_req_duration{kind:asset}': ['p(95)<100'],
    failed_checks: ['rate<0.3'],
  },
};

const logins = new Counter('successful_logins');
const failedChecks = new Rate('failed_checks');
const firstByte = new Trend('time_to_first_byte', true);

/** Checks a response and counts it where the thresholds look. */
function verify(res, checks) {
  const passed = check(res, checks);
  failedChecks.add(!passed);
  firstByte.add(res.timings.waiting, { page: res.url });
  return passed;
}

function frontPage() {
  const page = Math.floor(Math.random() * PAGES) + 1;
  const res = http.get(`${BASE_URL}/?page=${page}`, { tags: { name: `${BASE_URL}/?page=*` } });
  verify(res, {
    'front page is 200': (r) => r.status === 200,
    'front page is complete': (r) => r.body.length === 11278,
    'front page welcomes': (r) => r.body.includes('Welcome to the k6.io demo site!'),
  });

  group('Static assets', () => {
    const params = { tags: { kind: 'asset' } };
    const [style, script] = http.batch([
      ['GET', `${BASE_URL}/static/css/site.css`, null, params],
      ['GET', `${BASE_URL}/static/js/prisms.js`, null, params],
    ]);
    verify(style, {
      'style sheet is 200': (r) => r.status === 200,
      'style sheet is complete': (r) => r.body.length === 4859,
    });
    verify(script, { 'script is 200': (r) => r.status === 200 });
  });
}

function login() {
  const form = http.get(`${BASE_URL}/my_messages.php`);
  verify(form, { 'not logged in yet': (r) => r.body.includes('Unauthorized') });

  const visitor = VISITORS[Math.floor(Math.random() * VISITORS.length)];
  const messages = http.post(`${BASE_URL}/login.php`, {
    login: visitor.login,
    password: visitor.password,
    csrftoken: form.cookies.csrf[0].value,
    redir: '1',
  });
  if (verify(messages, { 'messages are shown': (r) => r.body.includes('Welcome, admin!') })) {
    logins.add(1);
  }
}

export default function () {
  group('Front page', frontPage);
  sleep(THINK_SECONDS);
  group('Login', login);
  sleep(THINK_SECONDS);
}
