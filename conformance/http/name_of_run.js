// flags: --tag name=run
// out: json
// A tag `name` of the run, the scenario or the VU names requests.
import http from 'k6/http';
import exec from 'k6/execution';
export const options = {
  scenarios: {
    plain: { executor: 'per-vu-iterations', exec: 'plain' },
    named: { executor: 'per-vu-iterations', exec: 'named', tags: { name: 'scenario' } },
  },
  thresholds: { 'http_req_duration{name:run}': ['p(95)<60000'] },
};
const at = (path) => `${__ENV.BASE_URL}${path}`;
export function setup() {
  http.get(at('/get?setup'));
}
export function plain() {
  http.get(at('/get?run'));
  http.get(http.url`${__ENV.BASE_URL}/get?${1}`);
  http.get(at('/redirect/1'));
  http.get(at('/get?own'), { tags: { name: 'own' } });
  http.batch([at('/status/404'), ['GET', at('/get'), null, { tags: { name: 'of a batch' } }]]);
}
export function named() {
  http.get(at('/get?scenario'));
  exec.vu.metrics.tags.name = 'VU';
  http.get(at('/get?vu'));
  delete exec.vu.metrics.tags.name;
  http.get(at('/get?scenario'));
}
