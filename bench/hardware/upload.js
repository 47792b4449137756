// Uploads of a megabyte each.
import http from 'k6/http';
import { check } from 'k6';

const body = new Uint8Array(1 << 20).buffer;

export const options = { discardResponseBodies: true };

export default function () {
  const answer = http.post(`${__ENV.TARGET}/post`, body, { headers: { 'Content-Type': 'application/octet-stream' } });
  check(answer, { 'it was taken': (r) => r.status === 200 });
}
