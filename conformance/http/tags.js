// Tags of a request; a name replaces the address.
// out: json csv
import http from 'k6/http';
const base = __ENV.BASE_URL;
export default function () {
  http.get(`${base}/f/1?a=1`, { tags: { name: 'one', kind: 'k' } });
  http.get(http.url`${base}/f/${2}`);
  http.get(`${base}/f/3`, { tags: { status: 'mine', url: 'mine' } });
}
