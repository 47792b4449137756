import http from 'k6/http';
import { check, sleep } from 'k6';

export const options = {
  vus: 50,
  duration: '10s',
  thresholds: { checks: ['rate>0.99'], http_req_duration: ['p(95)<200'] },
};

export default function () {
  const res = http.get(`${__ENV.BASE_URL || 'http://127.0.0.1:8080'}/delay/0.005`);
  check(res, { 'is there': (r) => r.status === 200 });
  sleep(1);
}
