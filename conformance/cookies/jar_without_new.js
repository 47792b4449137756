// A jar without new.
import http from 'k6/http';
import { check } from 'k6';
export default function () { const jar = http.CookieJar(); jar.set(__ENV.BASE_URL, 'a', '1'); check(1, { [Object.keys(jar.cookiesForURL(__ENV.BASE_URL)).join()]: true }); }
