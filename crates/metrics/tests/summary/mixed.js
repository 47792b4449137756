// Every kind of metric, nested groups, three scenarios, passing and failing thresholds.
import http from 'k6/http';
import { check, group, sleep } from 'k6';
import { Trend, Counter, Gauge, Rate } from 'k6/metrics';

const base = 'http://127.0.0.1:18101/';
const timeTrend = new Trend('my_trend', true);
const plainTrend = new Trend('plain_trend');
const bytes = new Counter('my_bytes');
const timeCounter = new Counter('zz_counter', true);
const gauge = new Gauge('a_gauge');
const timeGauge = new Gauge('b_gauge_time', true);
const rate = new Rate('my_rate');
new Counter('never_counter');
new Trend('never_trend');
new Rate('never_rate');
new Gauge('never_gauge');
const prefixed = ['vus_extra', 'http_reqs_mine', 'checks_foo', 'ws_mine', 'grpc_mine', 'browser_mine', 'browser_web_vital_x', 'webvital_x']
  .map((name) => new Counter(name));

export const options = {
  summaryTrendStats: ['avg', 'min', 'med', 'max', 'p(90)', 'p(95)', 'p(99.9)', 'count'],
  scenarios: {
    default: { executor: 'per-vu-iterations', vus: 2, iterations: 2 },
    zeta: { executor: 'shared-iterations', vus: 1, iterations: 2, exec: 'zeta', startTime: '0.3s' },
    alpha: { executor: 'shared-iterations', vus: 1, iterations: 1, exec: 'alpha', startTime: '0.6s' },
  },
  thresholds: {
    http_req_duration: ['p(95)<500', 'avg<0.0001', ' p(99.99) < 1000 ', 'med>=0'],
    'http_req_duration{group:::A}': ['p(95)<100'],
    'http_req_failed{group:::A}': ['rate<0.01'],
    http_reqs: ['count>1', 'rate>100000'],
    checks: ['rate>0.9'],
    a_gauge: ['value<3'],
    never_counter: ['count<5'],
    never_trend: ['avg<5'],
    never_rate: ['rate<0.5'],
    never_gauge: ['value<5'],
    'zz_counter{x:1}': ['count<1'],
    my_rate: ['rate>=0.0'],
  },
};

export function setup() {
  group('in setup', () => { http.get(base); check(1, { 'setup check': () => true }); });
  return { token: 'abc', list: [1, 2, { c: null }] };
}

export default function () {
  group('B first', () => {
    http.get(base);
    check(1, { 'status ok': () => true, sometimes: () => __ITER % 2 == 0 });
    group('inner', () => {
      http.get(base + 'none');
      check(1, { 'status ok': () => true, inner: () => false });
      group('deep', () => { check(1, { deep: () => __VU == 1 }); plainTrend.add(5); });
    });
    group('empty', () => {});
  });
  group('A', () => { http.get(base); check(1, { 'a check': () => true }); });
  check(1, { 'root check': () => true });
  for (const value of [0.0005, 12.3456, 123456, 3723456.7]) timeTrend.add(value);
  for (const value of [1.23456789, 1000000, -3.5, 0.1234567]) plainTrend.add(value);
  bytes.add(1024); timeCounter.add(1500); timeCounter.add(1, { x: '1' });
  gauge.add(2.5); gauge.add(7); timeGauge.add(1234); timeGauge.add(0.00012);
  rate.add(1); rate.add(0); rate.add(0);
  prefixed.forEach((counter, index) => counter.add(index + 1));
  sleep(0.05);
}

export function zeta() {
  group('Z', () => {
    http.get(base);
    check(1, { 'z check': () => true, 'status ok': () => false });
    group('Zin', () => { check(1, { zin: () => true }); });
  });
  check(1, { zroot: () => true });
}

export function alpha() { http.get(base); rate.add(1); sleep(1.2); }

export function handleSummary(data) { console.log('DATA=' + JSON.stringify(data)); return null; }
