// Values of a jar, and addresses it is asked about.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const jar = new http.CookieJar();
  const shown = (call) => { try { return JSON.stringify(call()); } catch (error) { return `throws ${error.message}`; } };
  const base = 'http://shop.test/a/b';
  check(1, { [`set ${shown(() => jar.set(base, 'a', '1'))} ${shown(() => jar.set(base, 'a', '2'))} ${shown(() => jar.set(base, 'sp', 'a b,c'))} ${shown(() => jar.set(base, 'n', 5))}`]: true });
  check(1, { [`all ${shown(() => Object.entries(jar.cookiesForURL(base)).sort())}`]: true, [`sub ${shown(() => jar.cookiesForURL('http://www.shop.test/'))}`]: true, [`other ${shown(() => jar.cookiesForURL('http://other.test/'))}`]: true });
  jar.set(base, 'p', '1', { path: '/a' });
  jar.set(base, 'd', '1', { domain: 'shop.test' });
  check(1, { [`deeper ${shown(() => Object.entries(jar.cookiesForURL('http://shop.test/a/x')).sort())}`]: true, [`of the domain ${shown(() => jar.cookiesForURL('http://www.shop.test/'))}`]: true, [`same name ${shown(() => { jar.set('http://shop.test/', 'p', '2', { path: '/' }); return jar.cookiesForURL('http://shop.test/a/x').p; })}`]: true });
  for (const wrong of [undefined, null, 5, '', 'no address']) check(1, { [`${String(wrong)} ${shown(() => jar.cookiesForURL(wrong))} ${shown(() => jar.set(wrong, 'a', '1'))} ${shown(() => jar.clear(wrong))} ${shown(() => jar.delete(wrong, 'a'))}`]: true });
}
