import http from 'k6/http';
if (__VU === 0) for (const f of [() => http.cookieJar(), () => typeof new http.CookieJar(), () => http.get('http://x'), () => http.batch(['http://x']), () => http.url`http://x/${1}`.name, () => http.file('x').content_type, () => typeof http.expectedStatuses(200), () => http.setResponseCallback(http.expectedStatuses(200)), () => http.asyncRequest('GET', 'http://x')])
  try { console.log(f()); } catch (e) { console.log(String(e)); }
export default function () {}
