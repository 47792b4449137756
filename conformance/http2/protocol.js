// HTTP/2 where a server speaks it: fields and tags.
// out: json
import http from 'k6/http';
import { check } from 'k6';
export const options = { hosts: { '*.lab.test': __ENV.TLS_PEERS } };
export default function () {
  const url = 'https://ok.h2.lab.test/';
  const first = http.get(url);
  check(first, { [`${first.status} "${first.status_text}" ${first.proto} ${first.body} ${first.tls_version} ${first.error}`]: true, 'has dialled': (r) => r.timings.connecting > 0 });
  check(http.get(url), { 'the same connection': (r) => r.timings.connecting === 0 && r.timings.tls_handshaking === 0 });
  const posted = http.post(url, 'body');
  check(posted, { [`posted ${posted.status} ${posted.proto}`]: true });
}
