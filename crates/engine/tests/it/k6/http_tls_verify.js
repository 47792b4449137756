import http from 'k6/http';
export default function () {
  const r = http.get(`https://${__ENV.TLS_TARGET}/get`); console.log(r.status, r.error_code, r.error);
  const s = http.get(`https://${__ENV.TARGET}/get`); console.log(s.status, s.error_code > 0, s.body);
}
