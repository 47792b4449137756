// Digest with other hashes than MD5.
import http from 'k6/http';
import { check } from 'k6';

export default function () {
  const base = __ENV.BASE_URL.replace('://', '://user:pass@');
  for (const path of ['auth/user/pass/SHA-256', 'auth/user/pass/SHA-512-256', 'auth/user/pass/SHA-256-sess', 'auth/user/pass/MD5-sess']) {
    const res = http.post(`${base}/digest-auth/${path}`, 'the body', { auth: 'digest' });
    check(res, { [path]: (r) => r.status === 200 });
  }
}
