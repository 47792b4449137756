// What `make demo` runs: a few hundred visitors of the built-in site for ten
// seconds, with groups, checks, metrics of its own and thresholds.
//
//   onrush target &
//   onrush run examples/demo.js
//
// BASE_URL   the system under test (default http://127.0.0.1:8080); TARGET=host:port takes precedence
// VUS        how many visitors (default 300)
import http from 'k6/http';
import { check, group, sleep } from 'k6';
import { Counter, Trend } from 'k6/metrics';

const BASE_URL = __ENV.TARGET ? `http://${__ENV.TARGET}` : __ENV.BASE_URL || 'http://127.0.0.1:8080';
const VUS = Number(__ENV.VUS || 300);

export const options = {
  scenarios: {
    // Visitors come, stay and leave.
    visitors: {
      executor: 'ramping-vus',
      startVUs: 0,
      stages: [
        { duration: '3s', target: VUS },
        { duration: '5s', target: VUS },
        { duration: '2s', target: 0 },
      ],
      gracefulRampDown: '3s',
      gracefulStop: '3s',
    },
    // Beside them a program asks for prices, 100 times a second, whatever happens.
    prices: {
      executor: 'constant-arrival-rate',
      exec: 'prices',
      rate: 100,
      timeUnit: '1s',
      duration: '10s',
      preAllocatedVUs: 30,
      maxVUs: 60,
      gracefulStop: '3s',
    },
  },
  thresholds: {
    checks: ['rate>0.99'],
    http_req_failed: ['rate<0.01'],
    'http_req_duration{scenario:prices}': ['p(95)<500'],
    'group_duration{group:::log in}': ['p(95)<2000'],
  },
};

const logins = new Counter('logins');
const products = new Trend('products_in_stock');

export default function () {
  group('front page', () => {
    const res = http.get(`${BASE_URL}/`);
    check(res, {
      'front page is there': (r) => r.status === 200,
      'front page welcomes us': (r) => r.body.includes('Welcome'),
    });
    const assets = http.batch([`${BASE_URL}/static/css/site.css`, `${BASE_URL}/static/js/prisms.js`, `${BASE_URL}/static/logo.svg`]);
    for (const asset of assets) check(asset, { 'asset is there': (r) => r.status === 200 });
  });
  sleep(0.2 + Math.random() * 0.3);

  group('log in', () => {
    const form = http.get(`${BASE_URL}/my_messages.php`);
    const csrftoken = form.cookies.csrf[0].value;
    const res = http.post(`${BASE_URL}/login.php`, { login: 'admin', password: '123', csrftoken, redir: '1' });
    if (check(res, { 'logged in': (r) => r.body.includes('Welcome, admin!') })) logins.add(1);
  });
  sleep(0.2 + Math.random() * 0.3);
}

export function prices() {
  const res = http.get(`${BASE_URL}/json`, { tags: { name: 'prices' } });
  const list = res.json('catalogue.products');
  check(list, { 'prices are numbers': (items) => items.every((item) => item.price > 0) });
  products.add(list.filter((item) => item.in_stock).length);
}
