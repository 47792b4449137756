import { check, group } from 'k6';
import http from 'k6/http';
export const options = { iterations: 2 };
export function setup() { return { a: [1, null, 'x'] }; }
export default function () { group('one', () => group('two', () => check(1, { ok: true, bad: false }))); check(1, { root: true }); http.get(`http://${__ENV.TARGET}/get`); }
export function handleSummary(data) {
  console.log(Object.keys(data).sort().join(), Object.keys(data.metrics).sort().join(), JSON.stringify(data.setup_data), __VU, typeof __ITER);
  console.log(data.options.summaryTrendStats.join(), data.options.summaryTimeUnit, data.options.noColor, Object.keys(data.state).sort().join(), data.state.testRunDurationMs > 0);
  const sorted = (o) => JSON.stringify(o, (k, v) => v && typeof v === 'object' && !Array.isArray(v) ? Object.fromEntries(Object.entries(v).sort((a, b) => (a[0] < b[0] ? -1 : 1))) : v);
  console.log(sorted(data.root_group));
  console.log(JSON.stringify(data.metrics.iterations.values.count), JSON.stringify(Object.keys(data.metrics.iteration_duration.values).sort()), JSON.stringify(data.metrics.vus));
  return { 'stdout': '' };
}
