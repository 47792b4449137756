// The life of a test: init code (in every VU), setup() once, the default
// function again and again, teardown() once, handleSummary() at the end.
//
//   onrush run examples/setup-teardown.js
//
// BASE_URL   the system under test (default http://127.0.0.1:8080)
// SUMMARY    a file to write the result to as JSON (default: none)
import http from 'k6/http';
import { check, fail, sleep } from 'k6';

const BASE_URL = __ENV.BASE_URL || 'http://127.0.0.1:8080';

export const options = {
  vus: 5,
  iterations: 50,
  setupTimeout: '10s',
  thresholds: { checks: ['rate==1'], 'http_req_duration{group:::setup}': ['max<2000'] },
};

// Runs once. What it returns goes to every VU and to teardown(), as JSON.
export function setup() {
  const res = http.get(`${BASE_URL}/uuid`);
  if (!check(res, { 'got a token': (r) => r.status === 200 })) {
    fail(`no token from ${BASE_URL}: is the target running?`);
  }
  return { token: res.json('uuid'), started: Date.now() };
}

export default function (data) {
  const res = http.get(`${BASE_URL}/bearer`, { headers: { Authorization: `Bearer ${data.token}` } });
  check(res, {
    'authenticated': (r) => r.status === 200,
    'token came back': (r) => r.json('token') === data.token,
  });
  sleep(0.1);
}

export function teardown(data) {
  console.log(`ran for ${((Date.now() - data.started) / 1000).toFixed(1)} s`);
}

// Replaces the summary that would be printed.
export function handleSummary(data) {
  const { iterations, http_req_duration: duration } = data.metrics;
  const out = {
    stdout: `${iterations.values.count} iterations, `
      + `requests took ${duration.values.avg.toFixed(2)} ms on average\n`,
  };
  if (__ENV.SUMMARY) out[__ENV.SUMMARY] = JSON.stringify(data, null, 2);
  return out;
}
