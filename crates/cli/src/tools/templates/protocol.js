import http from 'k6/http';
import { check, group, sleep } from 'k6';

// Where the system under test is: onrush run -e BASE_URL=http://... {{ .ScriptName }}
const BASE_URL = __ENV.BASE_URL || 'http://127.0.0.1:8080';

export const options = {
  scenarios: {
    // New iterations at a steady rate, however long each takes.
    visits: {
      executor: 'ramping-arrival-rate',
      startRate: 1,
      timeUnit: '1s',
      preAllocatedVUs: 20,
      maxVUs: 100,
      stages: [
        { duration: '30s', target: 10 },
        { duration: '1m', target: 10 },
        { duration: '10s', target: 0 },
      ],
    },
  },
  thresholds: {
    http_req_failed: ['rate<0.01'],
    'http_req_duration{expected_response:true}': ['p(95)<500'],
    checks: ['rate>0.99'],
  },
{{- if .ProjectID }}
  cloud: { projectID: {{ .ProjectID }} },
{{- end }}
};

// Runs once before the load; what it returns goes to every iteration.
export function setup() {
  const res = http.get(BASE_URL);
  if (res.status !== 200) {
    throw new Error(`${BASE_URL} answers ${res.status}`);
  }
  return { startedAt: Date.now() };
}

export default function () {
  group('front page', () => {
    const res = http.get(`${BASE_URL}/`, { tags: { name: 'front page' } });
    check(res, {
      'status is 200': (r) => r.status === 200,
      'has a body': (r) => r.body && r.body.length > 0,
    });
  });
  sleep(Math.random() * 2);
}

// Runs once after the load.
export function teardown(data) {
  console.log(`the test took ${Math.round((Date.now() - data.startedAt) / 1000)} s`);
}
