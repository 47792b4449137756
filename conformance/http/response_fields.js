// Each field of a Response.
import http from 'k6/http';
import { check } from 'k6';
const fields = [
  'remote_ip', 'remote_port', 'url', 'status', 'status_text', 'proto', 'headers', 'cookies', 'body', 'timings', 'tls_version', 'tls_cipher_suite', 'ocsp',
  'error', 'error_code', 'request',
];
const without = (text) => text.split(__ENV.BASE_URL).join('BASE').split(__ENV.BASE_URL.replace('http://', '')).join('HOST').replace(/Onrush\/[^"]*|Grafana k6\/[^"]*/g, 'AGENT');
export default function () {
  const r = http.post(`${__ENV.BASE_URL}/post?a=1`, 'body', { headers: { 'X-Own': 'yes' }, cookies: { c: 'd' } });
  check(r, {
    [`url ${without(r.url)} status ${r.status} ${r.status_text} proto ${r.proto}`]: true,
    [`error "${r.error}" ${r.error_code} tls "${r.tls_version}" "${r.tls_cipher_suite}"`]: true,
    [`remote ${r.remote_ip} ${r.remote_port === Number(__ENV.BASE_URL.split(':')[2])} ${typeof r.remote_port}`]: true,
    [`ocsp ${JSON.stringify(r.ocsp)}`]: true,
    [`timings ${Object.keys(r.timings).sort()} ${Object.values(r.timings).every((v) => typeof v === 'number' && v >= 0)}`]: true,
    [`request ${without(JSON.stringify({ ...r.request, headers: Object.entries(r.request.headers).sort() }))}`]: true,
    [`cookies ${JSON.stringify(r.cookies)} headers ${typeof r.headers['Content-Type']}`]: true,
    [`types ${['body', 'cookies', 'headers', 'json', 'html', 'submitForm', 'clickLink'].map((k) => typeof r[k])}`]: true,
    'duration is its parts': Math.abs(r.timings.duration - r.timings.sending - r.timings.waiting - r.timings.receiving) < 1e-3,
    [`in JSON ${Object.keys(JSON.parse(JSON.stringify(r))).sort()}`]: true,
  });
  const failed = http.get('http://127.0.0.1:1/x', { tags: { a: 'b' } });
  check(failed, {
    [`failed ${without(JSON.stringify(fields.map((name) => [name, name === 'timings' ? 0 : failed[name]])))}`]: true,
    [`failed url ${failed.url} ${failed.status_text} "${failed.proto}" ${failed.remote_ip} ${failed.remote_port}`]: true,
    [`failed timings ${JSON.stringify({ ...failed.timings, blocked: 0, duration: 0 })}`]: true,
  });
}
