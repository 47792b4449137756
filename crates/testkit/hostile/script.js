// One VU a case, all at once; what each request came to goes to the log.
import http from 'k6/http';
import exec from 'k6/execution';

const cases = JSON.parse(open('./cases.json'));

export const options = {
  scenarios: { all: { executor: 'per-vu-iterations', vus: cases.length, iterations: 1, maxDuration: '2m' } },
};

export default function () {
  const one = cases[exec.vu.idInTest - 1];
  const body = one.body_bytes > 0 ? 'x'.repeat(one.body_bytes) : null;
  const outcomes = [];
  for (let i = 0; i < one.times; i++) {
    try {
      const res = http.request(one.method, one.url, body, { timeout: one.timeout_ms, responseType: 'text' });
      outcomes.push([res.status, res.error_code, res.error]);
    } catch (error) {
      outcomes.push([0, 0, String(error)]);
    }
  }
  console.log('CASE ' + JSON.stringify({ name: one.name, outcomes }));
}

export function handleSummary(data) {
  const value = (name, key) => (data.metrics[name] ? data.metrics[name].values[key] : 0);
  return {
    stdout: '',
    'totals.json': JSON.stringify({
      iterations: value('iterations', 'count'),
      requests: value('http_reqs', 'count'),
    }),
  };
}
