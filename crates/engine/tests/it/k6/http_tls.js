import http from 'k6/http';
export const options = { insecureSkipTLSVerify: true, iterations: 2 };
export default function () {
  const r = http.get(`https://${__ENV.TLS_TARGET}/get?a=1`);
  console.log(r.status, r.proto, r.tls_version, r.tls_version === http.TLS_1_3, r.tls_cipher_suite.startsWith('TLS_AES_'), r.json('args.a'), r.url.startsWith('https://'), r.timings.tls_handshaking > 0);
  const s = http.get(`https://${__ENV.TLS_TARGET}/redirect/2`); console.log(s.status, s.url.replace(__ENV.TLS_TARGET, 'T'), s.timings.tls_handshaking);
  const plain = http.get(`http://${__ENV.TLS_TARGET}/get`); console.log(plain.status, plain.error_code > 0);
}
