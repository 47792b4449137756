// Uploads a file as a browser's form does (multipart/form-data).
//
//   head -c 26M /dev/urandom > /tmp/upload.bin
//   onrush run -e FILE=/tmp/upload.bin examples/upload.js
//
// The file is read once and all VUs share it: a thousand VUs that upload 26 MB
// do not need 26 GB.
//
// FILE       what to upload; a relative path starts at this script's folder (default data/users.json)
// BASE_URL   the system under test (default http://127.0.0.1:8080)
// SLEEP      seconds between uploads (default 1)
import http from 'k6/http';
import { check, sleep } from 'k6';

const BASE_URL = __ENV.BASE_URL || 'http://127.0.0.1:8080';
const FILE = __ENV.FILE || 'data/users.json';
const SLEEP = Number(__ENV.SLEEP || 1);

const file = http.file(open(FILE, 'b'), FILE.split('/').pop());

export const options = {
  vus: 5,
  duration: '10s',
  discardResponseBodies: true,
  thresholds: { http_req_failed: ['rate<0.01'] },
};

export default function () {
  const res = http.post(`${BASE_URL}/my_messages.php`, { file, comment: 'from upload.js' });
  check(res, { 'upload accepted': (r) => r.status === 200 });
  sleep(SLEEP);
}
