// What a test of a shop's API commonly looks like: metrics of its own,
// thresholds, helpers, JSON in and out, some state per user.
//
//   onrush run examples/typical.js
//
// BASE_URL   the system under test (default http://127.0.0.1:8080)
// SLEEP      seconds a customer thinks between two visits (default 1)
import http from 'k6/http';
import { check, fail, group, sleep } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

const BASE_URL = __ENV.BASE_URL || 'http://127.0.0.1:8080';
const THINK_SECONDS = Number(__ENV.SLEEP || 1);

export const options = {
  vus: 20,
  duration: '30s',
  thresholds: {
    http_req_duration: ['p(95)<500', 'p(99)<1500'],
    'http_req_duration{name:catalogue}': ['p(95)<400'],
    http_req_failed: ['rate<0.01'],
    checks: ['rate>0.99'],
    orders_refused: ['count<1'],
  },
};

const ordersRefused = new Counter('orders_refused');
const orderTime = new Trend('order_time', true);
const visitsComplete = new Rate('visits_complete');
const cartSize = new Gauge('cart_size');

const customers = Array.from({ length: 20 }, (_, i) => ({ name: `customer${i}`, city: `city ${i % 7}`, vip: i % 5 === 0 }));
const headers = { Accept: 'application/json', 'Content-Type': 'application/json', 'User-Agent': 'shop-test/1.0' };

const any = (list) => list[Math.floor(Math.random() * list.length)];
const total = (cart) => cart.reduce((sum, line) => sum + line.price * line.count, 0);

/** Sends JSON and returns the JSON that comes back; null if it is not what we want. */
function send(name, path, value) {
  const res = http.post(`${BASE_URL}${path}`, JSON.stringify(value), { headers, tags: { name } });
  const accepted = check(res, {
    [`${name} is 200`]: (r) => r.status === 200,
    [`${name} is JSON`]: (r) => r.headers['Content-Type'].includes('application/json'),
  });
  return accepted ? res.json() : null;
}

function browse() {
  const res = http.get(`${BASE_URL}/json`, { headers, tags: { name: 'catalogue' } });
  check(res, { 'catalogue is 200': (r) => r.status === 200, 'catalogue has products': (r) => r.json('catalogue.products.#') > 0 });
  return res.json('catalogue.products');
}

function order(cart) {
  const answer = send('order', '/post', { customer: any(customers), cart, total: total(cart) });
  if (answer === null) {
    ordersRefused.add(1);
    fail('the order was refused');
  }
  return answer.json.cart.length;
}

export default function () {
  let products = [];
  group('browse', () => { products = browse(); });
  const cart = products.filter((p) => p.in_stock).map((p) => ({ id: p.id, price: p.price, count: 1 + (__ITER % 3) }));
  group('order', () => {
    const start = Date.now();
    visitsComplete.add(order(cart) === cart.length);
    orderTime.add(Date.now() - start, { vip: `${__VU % 5 === 0}` });
    cartSize.add(cart.length);
  });
  sleep(THINK_SECONDS);
}
