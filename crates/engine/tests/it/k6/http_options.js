import http from 'k6/http';
export const options = { iterations: 3, maxRedirects: 1, noCookiesReset: true, userAgent: 'custom', hosts: { 'made.up': __ENV.TARGET, '*.wild.card': '127.0.0.1' }, blockHostnames: ['*.blocked.example'], blacklistIPs: ['10.99.0.0/16'], noVUConnectionReuse: true };
const base = `http://${__ENV.TARGET}`;
export default function () {
  console.log(JSON.stringify(http.get(`${base}/cookies`).json('cookies')));
  http.get(`${base}/cookies/set?i=${__ITER}`);
  console.log(http.get(`${base}/redirect/1`).status, http.get(`${base}/user-agent`).json('user-agent'));
  const r = http.get(`${base}/redirect/2`); console.log(r.status, r.url.replace(base, ''));
  const h = http.get('http://made.up/headers'); console.log(h.status, h.json('headers.Host'), h.remote_ip);
  const w = http.get(`http://x.wild.card:${__ENV.TARGET.split(':')[1]}/get`); console.log(w.status);
  for (const url of ['http://www.blocked.example/', 'http://10.99.1.2/']) { const b = http.get(url); console.log(b.status, b.error_code, b.error); }
  console.log(http.get(`${base}/get`).timings.connecting >= 0);
}
