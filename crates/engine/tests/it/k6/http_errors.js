import http from 'k6/http';
export const options = { hosts: {}, thresholds: { 'http_req_failed{error_code:1212}': ['rate==1'], 'http_reqs{status:0}': ['count>0'] } };
const base = `http://${__ENV.TARGET}`;
export default function () {
  const show = (r) => console.log(r.status, r.error_code, r.error, JSON.stringify(r.body), r.url, r.status_text, r.proto, JSON.stringify(r.headers), r.remote_ip);
  show(http.get('http://127.0.0.1:1/'));
  for (const bad of ['http://bad url/', '', '/relative', 'ftp://x/', 'http://[::1', 'http://x/%zz', null, undefined, 5, {}, [], true, '://x', 'http:/x', 'HTTP://127.0.0.1:1/', ' http://127.0.0.1:1/', 'http://127.0.0.1:1/ '])
    try { const r = http.get(bad); console.log(JSON.stringify(bad), r.status, r.error_code, r.error, JSON.stringify(r.url)); } catch (e) { console.log('thrown', String(e)); }
  show(http.get(`${base}/delay/2`, { timeout: 100 }));
  show(http.get(`${base}/delay/2`, { timeout: '150ms' }));
  for (const t of ['abc', -1, 0, null, {}, '5000']) try { const r = http.get(`${base}/get`, { timeout: t }); console.log(JSON.stringify(t), r.status, r.error_code); } catch (e) { console.log(JSON.stringify(t), String(e)); }
  try { http.get('http://127.0.0.1:1/', { throw: true }); } catch (e) { console.log(e.name, e.message); }
  try { http.get('http://bad url/', { throw: true }); } catch (e) { console.log(e.name, e.message); }
  try { http.get(`${base}/status/500`, { throw: true }); console.log('a status is no error'); } catch (e) { console.log(String(e)); }
  try { http.get(`${base}/get`, { headers: { 'bad header': 'x' } }).error; } catch (e) { console.log(String(e)); }
  const h = http.get(`${base}/get`, { headers: { 'bad header': 'x' } }); console.log(h.status, h.error_code, h.error);
  const v = http.get(`${base}/get`, { headers: { ok: 'line\nbreak' } }); console.log(v.status, v.error_code, v.error);
}
export function handleSummary(data) {
  for (const n of Object.keys(data.metrics).filter((n) => n.startsWith('http_req')).filter((n) => n.includes('{') && !n.includes('expected')).sort()) console.log(n, JSON.stringify(data.metrics[n].values.count || data.metrics[n].values.passes));
  console.log(data.metrics.http_reqs.values.count);
  return {};
}
