import http from 'k6/http';
const base = `http://${__ENV.TARGET}`;
export default function () {
  const a = http.batch([`${base}/get?n=1`, ['POST', `${base}/post`, 'b'], { method: 'PUT', url: `${base}/put`, body: 'c' }, ['GET', `${base}/get?n=4`, null, { tags: { x: 'y' } }], http.url`${base}/get?n=${5}`, { url: `${base}/get?n=6`, method: 'get', body: 'dropped' }]);
  console.log(Array.isArray(a), a.length, a.map((r) => `${r.status}:${r.json('method')}:${r.json('args.n') || r.json('data')}`).join(' '));
  const o = http.batch({ one: `${base}/get?n=1`, two: { url: `${base}/status/404` }, three: ['DELETE', `${base}/delete`] });
  console.log(Array.isArray(o), Object.keys(o).sort().join(), o.one.json('args.n'), o.two.status, o.three.status);
  console.log(JSON.stringify(http.batch([])), JSON.stringify(http.batch({})));
  for (const bad of [undefined, null, 'text', 5, [5], [['GET']], [{ method: 'GET' }], [[]], [null], { a: 1 }]) try { const r = http.batch(bad); const first = Object.values(r)[0]; console.log('no error', first.status, first.error, first.error_code);  } catch (e) { console.log(String(e)); }
  const f = http.batch([`${base}/get`, 'http://127.0.0.1:1/x']); console.log(f[0].status, f[1].status, f[1].error_code, f[1].error);
  const g = http.batch([['GET', `${base}/anything`, 'kept']]); console.log(g[0].json('data'), g[0].request.method);
  const p = http.batch([`${base}/get`, 'http://bad url/']); console.log(p.length, p[0] === null, p[0] === undefined, p[p.length - 1] && p[p.length - 1].error_code);
  try { http.batch([['GET', 'http://127.0.0.1:1/', null, { throw: true }]]); } catch (e) { console.log(String(e)); }
  const t = http.batch([{ method: 'POST', url: `${base}/post`, body: { f: 1 }, params: { headers: { 'X-H': 'v' } } }]); console.log(JSON.stringify(t[0].json('form')), t[0].json('headers.X-H'));
}
