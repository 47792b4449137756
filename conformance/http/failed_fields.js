// Fields and tags of requests that failed after a connection stood.
// out: json
// flags: --system-tags check,group,proto,status,method,name,error,error_code,ip,expected_response
import http from 'k6/http';
import { check } from 'k6';
const base = `http://${__ENV.PEERS}`;
export default function () {
  for (const path of ['truncated', 'nothing', 'bad-gzip', 'hang-body', 'hang-head', 'chunk', 'hang-empty']) {
    const r = http.get(`${base}/${path}`, { timeout: 300 });
    check(r, {
      [`${path}: ${r.status} "${r.status_text}" "${r.proto}" ${r.remote_ip} ${r.remote_port > 0} ${JSON.stringify(r.body)} headers ${Object.keys(r.headers)} ${r.url === `${base}/${path}`}`]: true,
      [`${path}: duration ${r.timings.duration > 0} blocked ${r.timings.blocked > 0} waiting ${r.timings.waiting > 0}${path === 'hang-body' ? ` receiving ${r.timings.receiving > 0}` : ''}`]: true,
    });
  }
}
