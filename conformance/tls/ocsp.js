// res.ocsp: what a stapled OCSP response says, over both versions of TLS.
// out: json
import http from 'k6/http';
import { check } from 'k6';
export const options = {
  hosts: { '*.lab.test': __ENV.TLS_PEERS },
  systemTags: ['check', 'group', 'ocsp_status', 'url', 'status', 'proto', 'tls_version'],
  thresholds: { 'http_reqs{ocsp_status:good}': ['count==4'] },
};
const show = (name, r) => check(r, { [`${name}: ${JSON.stringify(r.ocsp)} ${r.status}`]: true });
export default function () {
  for (const version of ['', '.12']) {
    for (const kind of ['good', 'unknown', 'revoked']) {
      show(`${kind}${version}`, http.get(`https://${kind}${version}.staple.lab.test/`));
    }
    show('kept connection', http.get(`https://good${version}.staple.lab.test/again`));
  }
  show('no staple', http.get('https://good.lab.test/'));
  show('no TLS', http.get(`${__ENV.BASE_URL}/get`));
  show('failed', http.get('https://good.staple.lab.test/cut'));
  show('failed in its body', http.get('https://good.staple.lab.test/bad-gzip'));
}
