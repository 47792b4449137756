// NTLM: three requests on one connection, of which the second counts as failed.
import http from 'k6/http';
import { check } from 'k6';

const as = (who, path) => __ENV.BASE_URL.replace('://', `://${who}@`) + path;
const show = (name, res) => check(res, { [`${name} ${res.status} ${res.error_code} ${Object.keys(res.request.headers)}`]: true });

export default function () {
  const ntlm = { auth: 'ntlm' };
  show('right', http.get(as('user:pass', '/ntlm/user/pass'), ntlm));
  show('with a domain', http.get(as('DOM%5Cuser:pass', '/ntlm/user/pass'), ntlm));
  show('a body', http.post(as('user:pass', '/ntlm/user/pass'), 'body', ntlm));
  show('wrong password', http.get(as('user:no', '/ntlm/user/pass'), ntlm));
  show('nobody', http.get(`${__ENV.BASE_URL}/ntlm/user/pass`, ntlm));
  show('basic header', http.get(`${__ENV.BASE_URL}/ntlm/user/pass`, { auth: 'ntlm', headers: { Authorization: 'Basic dXNlcjpwYXNz' } }));
  show('not asked for', http.get(as('user:pass', '/get'), ntlm));
  show('redirected', http.get(as('user:pass', '/redirect-to?url=/ntlm/user/pass'), ntlm));
}
