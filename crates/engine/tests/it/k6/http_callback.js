import http from 'k6/http';
export const options = { iterations: 2, thresholds: { 'http_reqs{expected_response:true}': ['count>0'], 'http_reqs{expected_response:false}': ['count>0'] } };
const base = `http://${__ENV.TARGET}`;
const only404 = http.expectedStatuses(404, { min: 500, max: 503 });
export default function () {
  console.log(typeof only404, JSON.stringify(only404));
  http.get(`${base}/status/404`); http.get(`${base}/status/200`);
  http.get(`${base}/status/404`, { responseCallback: only404 }); http.get(`${base}/status/502`, { responseCallback: only404 }); http.get(`${base}/status/200`, { responseCallback: only404 });
  http.get(`${base}/status/404`, { responseCallback: null });
  http.setResponseCallback(http.expectedStatuses(201)); http.get(`${base}/status/201`); http.get(`${base}/status/200`);
  http.setResponseCallback(null); http.get(`${base}/status/500`);
  for (const bad of [[], ['200'], [1.5], [{}], [{ min: 200 }], [{ min: 1, max: 'x' }], [200, null]]) try { http.expectedStatuses(...bad); console.log('fine'); } catch (e) { console.log(String(e)); }
  for (const bad of [5, 'x', {}, undefined]) try { http.setResponseCallback(bad); console.log('fine'); } catch (e) { console.log(String(e)); }
}
export function handleSummary(data) {
  for (const n of Object.keys(data.metrics).filter((n) => n.startsWith('http_req')).filter((n) => /^http_reqs|^http_req_failed/.test(n)).sort()) { const v = data.metrics[n].values; console.log(n, v.count, v.passes, v.fails); }
  return {};
}
