import http from 'k6/http';
export const options = { iterations: 2 };
const base = `http://${__ENV.TARGET}`;
export default function () {
  const sorted = (o) => JSON.stringify(o, (k, v) => v && typeof v === 'object' && !Array.isArray(v) ? Object.fromEntries(Object.entries(v).sort((a, b) => (a[0] < b[0] ? -1 : 1))) : v);
  const seen = (r) => sorted(r.json('cookies'));
  console.log('fresh', seen(http.get(`${base}/cookies`)));
  const set = http.get(`${base}/cookies/set?a=1&b=2`, { redirects: 0 });
  console.log(set.status, sorted(set.cookies));
  console.log(seen(http.get(`${base}/cookies`)));
  console.log(seen(http.get(`${base}/cookies`, { cookies: { a: 'param', c: 'new' } })));
  const sent = http.get(`${base}/headers`, { cookies: { a: 'param' } }); console.log(sent.json('headers.Cookie'), sorted(sent.request.cookies));
  const replaced = http.get(`${base}/headers`, { cookies: { a: { value: 'param', replace: true } } }); console.log(replaced.json('headers.Cookie'), sorted(replaced.request.cookies));
  const jar = http.cookieJar();
  console.log(sorted(jar.cookiesForURL(base)), jar.set(base, 'own', 'x y', { path: '/cookies' }), sorted(jar.cookiesForURL(`${base}/cookies`)), sorted(jar.cookiesForURL(base)));
  console.log(seen(http.get(`${base}/cookies`)));
  jar.delete(base, 'a'); console.log(sorted(jar.cookiesForURL(base)));
  jar.clear(base); console.log(sorted(jar.cookiesForURL(base)));
  const own = new http.CookieJar(); own.set(base, 'k', 'v'); console.log(seen(http.get(`${base}/cookies`, { jar: own })), seen(http.get(`${base}/cookies`)));
  jar.set(base, 'old', '1', { expires: 'Mon, 02 Jan 2006 15:04:05 GMT' }); jar.set(base, 'aged', '1', { max_age: 100 }); jar.set(base, 'sec', '1', { secure: true });
  console.log(sorted(jar.cookiesForURL(base)));
  try { jar.set(base, 'bad', '1', { expires: 'yesterday' }); } catch (e) { console.log(String(e).slice(0, 60)); }
  const del = http.get(`${base}/cookies/delete?aged`); console.log(sorted(jar.cookiesForURL(base)));
  console.log(JSON.stringify(http.get(`${base}/response-headers?Set-Cookie=n%3Dv%3B%20Path%3D/x%3B%20Domain%3Dexample.com%3B%20Max-Age%3D60%3B%20HttpOnly%3B%20Secure`).cookies));
  http.get(`${base}/cookies/set?keep=1`);
}
