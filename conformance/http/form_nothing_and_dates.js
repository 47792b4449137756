// Fields of a form that are no texts.
import http from 'k6/http';
import { check } from 'k6';

const URL = `${__ENV.BASE_URL}/post`;
export default function () {
  for (const a of [null, undefined, [null, undefined, 'x'], new Date(0), [new Date(1700000000120)], true, 1e21]) {
    check(1, { [http.post(URL, { a, b: 1 }).request.body]: true });
  }
}
