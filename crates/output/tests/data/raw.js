import http from 'k6/http';
import { check, group } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
import exec from 'k6/execution';
const counter = new Counter('my_counter');
const gauge = new Gauge('my_gauge');
const rate = new Rate('my_rate');
const trend = new Trend('my_trend', true);
export const options = {
  scenarios: { one: { executor: 'shared-iterations', vus: 1, iterations: 2, tags: { kind: 'a,b' } } },
  thresholds: {
    http_req_duration: ['p(95)<5000', { threshold: 'avg<9000', abortOnFail: true, delayAbortEval: '10s' }],
    'http_reqs{kind:a}': ['count>=0'],
    my_rate: ['rate>=0'],
  },
};
export function setup() { http.get(`${__ENV.BASE}/setup`); return { a: 1 }; }
export default function () {
  counter.add(1.5);
  gauge.add(-2);
  rate.add(true, { quote: 'say "hi"', amp: 'a&b=c' });
  trend.add(0.000123456789, { uni: 'é ☃ <b>', lines: 'one\ntwo' });
  http.get(`${__ENV.BASE}/page?x=1&y=<2>`);
  http.get(`${__ENV.BASE}/missing`, { tags: { name: 'named, yes' } });
  http.get(`${__ENV.BASE}/redirect`);
  http.get('http://127.0.0.1:1/refused');
  exec.vu.metrics.metadata.trace = `t${exec.vu.iterationInInstance}`;
  exec.vu.metrics.tags.own = 'mine';
  group('outer', () => { check(1, { 'is one': (v) => v === 1, 'is two': (v) => v === 2 }); });
}
export function teardown() { counter.add(10); }
