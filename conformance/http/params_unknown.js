// Parameters nobody knows, of wrong types, and params that are no object.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const url = `${__ENV.BASE_URL}/get`;
  for (const params of [
    { nonsense: 1 }, { headers: 'x' }, { headers: null }, { cookies: 'x' }, { cookies: null }, { cookies: { a: 5 } }, { cookies: { a: {} } }, { jar: 5 }, { jar: null }, { redirects: 'x' }, { redirects: -1 },
    { responseType: 5 }, { throw: 'yes' }, { auth: 5 }, { tags: null }, { timeout: null },
  ]) {
    try {
      const r = http.get(url, params);
      check(r, { [`${JSON.stringify(params)} ${r.status} ${r.error_code} ${r.error}`]: true });
    } catch (error) { check(1, { [`${JSON.stringify(params)} throws ${error.message}`]: true }); }
  }
  for (const params of [5, 'text', [], true]) {
    try { check(1, { [`params ${JSON.stringify(params)} ${http.get(url, params).status}`]: true }); } catch (error) { check(1, { [`params ${JSON.stringify(params)} throws ${error.message}`]: true }); }
  }
}
