// All methods.
// out: json csv
import http from 'k6/http';
const base = __ENV.BASE_URL;
export default function () {
  http.get(`${base}/get`); http.post(`${base}/post`, 'x'); http.put(`${base}/put`, 'x'); http.patch(`${base}/patch`, 'x');
  http.del(`${base}/delete`); http.head(`${base}/get`); http.options(`${base}/anything`); http.request('DELETE', `${base}/anything`);
}
