import http from 'k6/http';
export const options = { discardResponseBodies: true };
const base = `http://${__ENV.TARGET}`;
export default function () {
  console.log(http.get(`${base}/f/10`).body, http.get(`${base}/f/10`, { responseType: 'text' }).body.length, http.get(`${base}/f/10`, { responseType: 'binary' }).body.byteLength);
  try { http.get(`${base}/json`).json(); } catch (e) { console.log(String(e)); }
  try { console.log(http.get(`${base}/json`).json('a.b')); } catch (e) { console.log(String(e)); }
}
