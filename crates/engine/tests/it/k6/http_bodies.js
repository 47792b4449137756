import http from 'k6/http';
const base = `http://${__ENV.TARGET}`;
export default function () {
  const sorted = (o) => o && JSON.stringify(o, Object.keys(o).sort());
  const post = (body, params) => { try { const r = http.post(`${base}/post`, body, params); if (r.error) { console.log(r.status, r.error, r.error_code, JSON.stringify(r.request), r.url); return; } const j = r.json(); console.log(r.request.body, '|', j.headers['Content-Type'], j.headers['Content-Length'], '|', sorted(j.form), j.data); } catch (e) { console.log(String(e)); } };
  post({ z: 'last', a: 'first', m: 5, f: 1.5, t: true, big: 1e21 });
  post({ list: [1, 'two', true], empty: [] });
  post({ 'key with space': 'a b&c=d', ü: 'ö', plus: 'a+b', star: '*-._~' });
  post({ a: 1 }, { headers: { 'Content-Type': 'application/json' } });
  post({ a: 1 }, { headers: { 'content-type': 'text/plain' } });
  post('ünï'); post(5); post(true); post(1.5);
  post(new Uint8Array([104, 105]).buffer); post([1, 2]); post({});
  post(new Uint8Array([104, 105]));
  post('x', { headers: { 'Content-Length': '99' } }); post('x', { headers: { 'Content-Length': '1' } });
  post(JSON.stringify({ deep: [1, { a: null }] }), { headers: { 'Content-Type': 'application/json' } });
  const e = http.post(`${base}/post`, 'abc', { compression: 'gzip' }); console.log(e.status, e.json('headers.Content-Encoding'));
  const e2 = http.post(`${base}/post`, 'abc', { compression: 'gzip, deflate', headers: { 'Content-Encoding': 'x' } }); console.log(e2.status, e2.json('headers.Content-Encoding'));
  try { http.post(`${base}/post`, 'abc', { compression: 'rot13' }); } catch (x) { console.log(String(x)); }
}
