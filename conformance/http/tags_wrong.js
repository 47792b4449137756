// Tags of a request that are no texts.
// out: json
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  for (const tags of [{ n: 5, b: true, f: 1.5 }, { o: {} }, { l: ['a'] }, { z: null }, { u: undefined }, 5]) {
    try {
      const r = http.get(`${__ENV.BASE_URL}/f/1`, { tags });
      check(r, { [`${JSON.stringify(tags)} ${r.status} ${r.error}`]: true });
    } catch (error) { check(1, { [`${JSON.stringify(tags)} throws ${error.message}`]: true }); }
  }
}
