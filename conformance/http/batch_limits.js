// batch and batchPerHost limit how many requests are on their way.
import http from 'k6/http';
import { check } from 'k6';
export const options = { batch: 4, batchPerHost: 2, hosts: { 'a.test': '127.0.0.1', 'b.test': '127.0.0.1', 'c.test': '127.0.0.1' } };
const port = __ENV.BASE_URL.split(':')[2];
export default function () {
  const rounds = (...hosts) => {
    const began = Date.now();
    http.batch(hosts.map((host) => `http://${host}.test:${port}/delay/0.2`));
    return Math.floor((Date.now() - began) / 200);
  };
  check(1, { 'two a host': () => rounds('a', 'a', 'a', 'a') === 2, 'four in all': () => rounds('a', 'a', 'b', 'b', 'c', 'c') === 2 });
}
