// What handleSummary() gets: metrics, groups, options, state, setup data.
import { check, group } from 'k6';
import http from 'k6/http';
import { Gauge } from 'k6/metrics';
const gauge = new Gauge('my_gauge');
export const options = { iterations: 2, thresholds: { iterations: ['count==2', 'count>2'], 'http_reqs{status:200}': ['count>0'] } };
export function setup() { return { token: 'abc', list: [1, 2] }; }
export default function () {
  group('outer', () => { group('inner', () => check(1, { one: true })); check(1, { two: false }); });
  http.get(`${__ENV.BASE_URL}/f/10`);
  gauge.add(1);
}
export function handleSummary(data) { return { 'data.json': JSON.stringify(data) }; }
