// set() with attributes that are none.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const jar = http.cookieJar();
  for (const attributes of [{ expires: 'soon' }, { expires: '' }, { expires: 'Mon, 02 Jan 2099 15:04:05 MST' }, { expires: '2099-01-01' }, { max_age: 'x' }, { max_age: -1 }, { max_age: 0 }, { domain: '' }, { path: '' }, { nonsense: 1 }, { secure: 'yes' }]) {
    let result;
    try { result = jar.set(__ENV.BASE_URL, 'a', '1', attributes); } catch (error) { result = `throws ${error.message}`; }
    check(1, { [`${JSON.stringify(attributes)} ${result} ${JSON.stringify(jar.cookiesForURL(__ENV.BASE_URL))}`]: true });
    jar.clear(__ENV.BASE_URL);
  }
}
