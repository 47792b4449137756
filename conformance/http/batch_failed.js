// A batch where some requests fail.
import http from 'k6/http';
import { check } from 'k6';
export const options = { batch: 1, batchPerHost: 1 };
export default function () {
  const [bad, good] = http.batch(['http://127.0.0.1:1/', `${__ENV.BASE_URL}/f/1`]);
  check(1, { [`bad ${bad.status}`]: true, [`good ${good.status}`]: true });
}
