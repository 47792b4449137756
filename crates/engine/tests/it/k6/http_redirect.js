import http from 'k6/http';
export const options = { thresholds: { 'http_reqs{status:302}': ['count>0'], 'http_reqs{status:200}': ['count>0'], 'http_reqs{method:GET}': ['count>0'], 'http_reqs{name:mine}': ['count==3'] } };
const base = `http://${__ENV.TARGET}`;
export default function () {
  const show = (r) => console.log(r.status, r.url.replace(base, ''), r.request.method, r.request.url.replace(base, ''), r.headers.Location || '-');
  show(http.get(`${base}/redirect/3`));
  show(http.get(`${base}/relative-redirect/2`));
  show(http.get(`${base}/absolute-redirect/2`));
  show(http.get(`${base}/redirect/3`, { redirects: 0 }));
  show(http.get(`${base}/redirect/3`, { redirects: 2 }));
  show(http.get(`${base}/redirect/12`));
  const p = http.post(`${base}/redirect-to?url=/anything&status_code=302`, 'body'); show(p); console.log(p.json('method'), JSON.stringify(p.json('data')));
  const q = http.post(`${base}/redirect-to?url=/anything&status_code=307`, 'body'); show(q); console.log(q.json('method'), JSON.stringify(q.json('data')));
  const s = http.put(`${base}/redirect-to?url=/anything&status_code=308`, 'body', { headers: { 'X-A': 'b' } }); show(s); console.log(s.json('method'), JSON.stringify(s.json('data')), s.json('headers.X-A'), s.json('headers.Referer'));
  const h = http.head(`${base}/redirect-to?url=/anything&status_code=303`); show(h);
  show(http.get(`${base}/redirect/2`, { tags: { name: 'mine' } }));
  show(http.get(`${base}/status/304`));
  show(http.get(`${base}/redirect-to?url=`));
}
export function handleSummary(data) {
  for (const n of Object.keys(data.metrics).filter((n) => n.startsWith('http_reqs')).sort()) console.log(n, data.metrics[n].values.count);
  console.log(data.metrics.http_req_failed.values.passes, data.metrics.http_req_failed.values.fails);
  return {};
}
