// Typed arrays as bodies and files.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  for (const value of [new Uint16Array([0x4141]), new Float32Array(1)]) {
    const r = http.post(`${__ENV.BASE_URL}/post`, value);
    check(r, { [`${r.status} ${r.error}`]: true });
  }
  try { http.file(new Uint8Array([65])); check(1, { 'is a file': true }); } catch (error) { check(1, { [`${error.message}`]: true }); }
}
