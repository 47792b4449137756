// json() of a Response without a body.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const shown = (call) => { try { return JSON.stringify(call()); } catch (error) { return `throws ${error.message}`; } };
  for (const r of [http.get('http://127.0.0.1:1/'), http.get(`${__ENV.BASE_URL}/json`, { responseType: 'none' }), http.get(`${__ENV.BASE_URL}/status/204`)]) {
    check(1, { [`${r.status} ${shown(() => r.json())}`]: true, [`${r.status} with a path ${shown(() => r.json('a'))}`]: true });
  }
}
