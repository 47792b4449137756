import http from 'k6/http';
import { check, group, sleep } from 'k6';
import { Trend } from 'k6/metrics';
const basket = new Trend('basket_value');
const URL = 'http://127.0.0.1:18088';
export const options = {
  scenarios: { visitors: { executor: 'ramping-vus', stages: [{ duration: '15s', target: 1000 }, { duration: '35s', target: 1000 }] } },
  thresholds: { http_req_duration: ['p(95)<500'], checks: ['rate>0.9'] },
};
export default function () {
  group('browse', () => {
    check(http.get(`${URL}/`), { 'is there': (r) => r.status === 200 });
    http.get(`${URL}/status/${Math.random() < 0.03 ? 503 : 200}`, { tags: { name: 'status' } });
  });
  http.get(`${URL}/delay/0.0${1 + Math.floor(Math.random() * 8)}`, { tags: { name: 'order' } });
  basket.add(Math.round(10 + Math.random() * 90));
  sleep(5 + 5 * Math.random());
}
