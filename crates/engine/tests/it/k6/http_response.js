import http from 'k6/http';
export const options = { userAgent: 'tester' };
const base = `http://${__ENV.TARGET}`;
export default function () {
  const r = http.get(`${base}/response-headers?X-One=1&X-One=2&Content-Type=text/plain`, { headers: { 'X-Custom': 'yes', accept: '*/*' }, cookies: { c: 'v' } });
  console.log(Object.keys(r.timings).sort().join(), Object.keys(r.request).sort().join(), Object.keys(r.ocsp).sort().join());
  console.log(r.url === `${base}/response-headers?X-One=1&X-One=2&Content-Type=text/plain`, r.status, r.status_text, r.proto, r.error, r.error_code, r.remote_ip, typeof r.remote_port);
  console.log(r.headers['X-One'], r.headers['Content-Type'], JSON.stringify(r.request.headers, Object.keys(r.request.headers).sort()), JSON.stringify(r.request.cookies), r.request.body, r.request.method, r.request.url);
  console.log(JSON.stringify(r.cookies), JSON.stringify(r.tls_version), JSON.stringify(r.tls_cipher_suite), JSON.stringify(r.ocsp));
  console.log(r.timings.duration >= 0, r.timings.looking_up, r.timings.tls_handshaking, Math.abs(r.timings.duration - r.timings.sending - r.timings.waiting - r.timings.receiving) < 0.001);
  const text = JSON.parse(JSON.stringify(r)); console.log(Object.keys(text).sort().join());
  console.log(typeof r.json, typeof r.html, typeof r.submitForm, typeof r.clickLink);
  r.status = 999; r.body = 'changed'; console.log(r.status, r.body);
  const s = http.get(`${base}/status/204`); console.log(s.status, JSON.stringify(s.body), s.status_text);
  const t = http.get(`${base}/status/418`); console.log(t.status, t.status_text, t.error_code, JSON.stringify(t.error));
  const u = http.get(`${base}/status/500`); console.log(u.status, u.status_text, u.error_code);
  console.log('body' in r, r.hasOwnProperty('body'), 'nope' in r, r.nope);
}
