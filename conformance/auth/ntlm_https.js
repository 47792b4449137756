// NTLM with a server that speaks HTTP/2 as well.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const as = (path) => __ENV.HTTPS_URL.replace('://', '://user:pass@') + path;
  const show = (name, r) => check(r, { [`${name}: ${r.status} ${r.proto}`]: true });
  show('before', http.get(as('/get')));
  show('ntlm', http.get(as('/ntlm/user/pass'), { auth: 'ntlm' }));
  show('after', http.get(as('/get')));
}
