// What servers may set: domains, paths, deletions, secure.
import http from 'k6/http';
import { check } from 'k6';
const port = __ENV.BASE_URL.split(':')[2];
export const options = { hosts: { 'shop.test': '127.0.0.1', 'www.shop.test': '127.0.0.1', 'other.test': '127.0.0.1' } };
export default function () {
  const set = (host, line) => http.get(`http://${host}:${port}/response-headers?Set-Cookie=${encodeURIComponent(line)}`);
  const sent = (host, path = '/headers') => String(http.get(`http://${host}:${port}${path}`).json('headers.Cookie')).split('; ').sort().join();
  for (const line of ['host=1', 'domain=1; Domain=shop.test', 'dot=1; Domain=.shop.test', 'foreign=1; Domain=other.test', 'tld=1; Domain=test', 'secure=1; Secure', 'path=1; Path=/anything', 'relative=1; Path=x', 'up=1; Domain=www.shop.test', 'age=1; Max-Age=60', 'gone=1; Max-Age=0']) set('shop.test', line);
  check(1, { [`shop ${sent('shop.test')}`]: true, [`www ${sent('www.shop.test')}`]: true, [`other ${sent('other.test')}`]: true, [`path ${sent('shop.test', '/anything/deep')}`]: true });
  set('shop.test', 'host=; Max-Age=0');
  set('shop.test', 'domain=2; Domain=shop.test');
  check(1, { [`after ${sent('shop.test')}`]: true });
}
