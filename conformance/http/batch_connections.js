// A batch opens connections as it needs them, the next one uses them again.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const requests = Array(4).fill(`${__ENV.BASE_URL}/delay/0.1`);
  const dialled = () => http.batch(requests).filter((r) => r.timings.connecting > 0).length;
  check(1, { [`first ${dialled()}`]: true });
  check(1, { [`second ${dialled()}`]: true });
}
