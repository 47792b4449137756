// Basic, digest and NTLM authentication: the credentials are part of the URL.
//
//   onrush run examples/credentials.js
//   onrush run --http-debug examples/credentials.js     (what goes over the wire)
//
// BASE_URL   the system under test (default http://127.0.0.1:8080)
import http from 'k6/http';
import { check } from 'k6';

const BASE_URL = __ENV.BASE_URL || 'http://127.0.0.1:8080';
const user = encodeURIComponent('me@example');
const password = encodeURIComponent('p:ss');
const withCredentials = (path) => BASE_URL.replace('://', `://${user}:${password}@`) + path;

export const options = { thresholds: { checks: ['rate==1'] } };

export default function () {
  const who = `${user}/${password}`;
  const welcome = { welcome: (r) => r.status === 200 };
  check(http.get(withCredentials(`/basic-auth/${who}`)), welcome);
  // Two requests: the first asks for the challenge.
  check(http.get(withCredentials(`/digest-auth/auth/${who}/SHA-256`), { auth: 'digest' }), welcome);
  // Three requests, the last two on one connection.
  check(http.get(withCredentials(`/ntlm/${who}`), { auth: 'ntlm' }), welcome);
}
