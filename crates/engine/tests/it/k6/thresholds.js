import http from 'k6/http';
import { check, group } from 'k6';
import { Counter, Trend } from 'k6/metrics';
const c = new Counter('c_total'); const t = new Trend('t_ms', true);
export const options = {
  iterations: 3, tags: { env: 'test' },
  thresholds: {
    'c_total{kind:a}': ['count==3'], 'c_total{kind:b}': ['count==6'], 'c_total{kind:none}': ['count==0'], 'c_total{kind:a,env:test}': ['count==3'], c_total: ['count<5'],
    t_ms: ['avg==20', 'med==20', 'p(90)>20', 'max==30', 'min==10'], 'checks{group:::g}': ['rate==1'], 'http_reqs{group:::g}': ['count==3'], 'http_reqs{method:POST}': ['count==3'],
    'http_reqs{scenario:default}': ['count==6'], 'iterations': ['count==3'], 'http_req_failed': ['rate<0.5'], 'http_req_duration{expected_response:true}': ['max>0'], 'vus': ['value==1'],
  },
};
export default function () {
  c.add(1, { kind: 'a' }); c.add(2, { kind: 'b' }); t.add(10 * (__ITER + 1));
  group('g', () => { check(http.get(`http://${__ENV.TARGET}/get`), { ok: (r) => r.status === 200 }); });
  http.post(`http://${__ENV.TARGET}/post`, 'x');
}
export function handleSummary(data) {
  for (const n of Object.keys(data.metrics).filter((n) => data.metrics[n].thresholds).sort()) console.log(n, JSON.stringify(Object.entries(data.metrics[n].thresholds).sort()), n.startsWith('c_') ? data.metrics[n].values.count : '');
  return {};
}
