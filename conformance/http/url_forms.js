// How addresses are written in tags, in Response.url, and to the server.
// out: json
import http from 'k6/http';
import { check } from 'k6';
const host = __ENV.BASE_URL.replace('http://', '');
export default function () {
  for (const url of [
    `HTTP://${host}/anything/upper`, `http://${host}`, `http://${host}?a=1`, `http://${host}/anything/a b`, `http://${host}/anything/%7Ea%2fb`, `http://${host}/anything/ä?q=ü&r=a b`,
    `http://${host}/anything/#fragment`, `http://user@${host}/anything/user`, `http://user:pass@${host}/anything/pass`, `http://${host}/anything/../x/./y`, `http://${host}/anything//double`,
    `http://${host}/anything/?`, ` http://${host}/anything/blank`, `http://${host}/anything/{a}|b"c<d>`, `http://${host}/anything/100%`,
  ]) {
    const r = http.get(url);
    const shown = (text) => String(text).split(host).join('HOST');
    const to = r.status === 200 && r.json('url') ? shown(r.json('url')) : '';
    check(r, { [shown(`${url} is ${r.status} ${r.error_code} url ${r.url} request ${r.request && r.request.url} server ${to}`)]: true });
  }
}
