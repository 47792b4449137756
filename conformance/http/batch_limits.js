// Batches: shapes, order, concurrency and its limits.
import http from 'k6/http';
import { check } from 'k6';

export const options = { batch: 6, batchPerHost: 3 };

export default function () {
  const slow = `${__ENV.BASE_URL}/delay/0.3`;
  const took = (requests) => {
    const start = Date.now();
    const responses = http.batch(requests);
    return [responses, Math.round((Date.now() - start) / 300)];
  };
  const [three, one] = took([slow, slow, slow]);
  check(three, { [`three at once: ${three.map((r) => r.status)} in ${one}`]: true });
  const [five, two] = took([slow, slow, slow, slow, slow]);
  check(five, { [`five over the limit of a host: ${five.length} in ${two}`]: true });
  const named = http.batch({
    get: `${__ENV.BASE_URL}/get?a=1`,
    list: ['POST', `${__ENV.BASE_URL}/post`, 'body', { tags: { x: 'y' } }],
    object: { method: 'put', url: `${__ENV.BASE_URL}/put`, body: { a: 'b' }, params: { headers: { X: 'z' } } },
    template: http.url`${__ENV.BASE_URL}/status/${204}`,
    bodiless: { method: 'GET', url: `${__ENV.BASE_URL}/get`, body: 'dropped' },
  });
  check(named, { [`${Object.entries(named).sort().map(([key, r]) => `${key} ${r.status} ${r.request.method} ${r.request.body}`)}`]: true });
  for (const [name, input] of [['nothing', undefined], ['null', null], ['number', 5], ['text', 'x'], ['empty', []], ['object', {}], ['short', [['GET']]], ['no url', [{ method: 'GET' }]], ['bad url', ['http://a b/']], ['hole', [null]]]) {
    let outcome;
    try {
      const res = name === 'nothing' ? http.batch() : http.batch(input);
      outcome = Array.isArray(res) ? JSON.stringify(res.map((r) => [r.status, r.error_code, r.error])) : JSON.stringify(Object.keys(res));
    } catch (e) {
      outcome = `threw ${e}`;
    }
    check(0, { [`${name}: ${outcome}`]: () => true });
  }
}
