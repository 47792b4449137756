// Something to look at: visitors of two pages, one of which fails now and then, and an order twice a second.
//
// TARGET: the server (default: the service of the compose file)
import http from 'k6/http';
import { check, sleep } from 'k6';

const target = __ENV.TARGET || 'http://target:8080';

export const options = {
  scenarios: {
    visitors: { executor: 'constant-vus', vus: 10, duration: '2m', exec: 'visit' },
    orders: { executor: 'constant-arrival-rate', rate: 2, duration: '2m', preAllocatedVUs: 5, exec: 'order' },
  },
};

export function visit() {
  const page = http.get(`${target}/f/1000`, { tags: { name: 'page' } });
  check(page, { 'is there': (r) => r.status === 200 });
  http.get(`${target}/status/${Math.random() < 0.1 ? 503 : 200}`, { tags: { name: 'status' } });
  sleep(Math.random());
}

export function order() {
  const done = http.post(`${target}/post`, JSON.stringify({ article: 1 }), { tags: { name: 'order' } });
  check(done, { 'was taken': (r) => r.status === 200 });
}
