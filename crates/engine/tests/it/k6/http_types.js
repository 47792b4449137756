import http from 'k6/http';
const base = `http://${__ENV.TARGET}`;
export default function () {
  const b = http.get(`${base}/f/10`, { responseType: 'binary' }); console.log(b.body instanceof ArrayBuffer, b.body.byteLength);
  const n = http.get(`${base}/f/10`, { responseType: 'none' }); console.log(n.body, n.status);
  const t = http.get(`${base}/f/10`, { responseType: 'text' }); console.log(typeof t.body, t.body.length);
  const u = http.get(`${base}/encoding/utf8`); console.log(typeof u.body, u.body.includes('∮'));
  try { const j = http.get(`${base}/f/10`, { responseType: 'json' }); console.log(j.status, j.error, j.error_code, j.url, j.request); } catch (e) { console.log(String(e)); }
  try { console.log(n.json()); } catch (e) { console.log(String(e)); }
  for (const path of ['gzip', 'deflate', 'brotli', 'zstd']) { const r = http.get(`${base}/${path}`); console.log(path, r.status, r.headers['Content-Encoding'], typeof r.json()); }
  const bin = http.get(`${base}/gzip`, { responseType: 'binary' }); console.log(String.fromCharCode(new Uint8Array(bin.body)[0]));
  const je = http.get(`${base}/json`, { responseType: 'binary' }); console.log(typeof je.json());
}
