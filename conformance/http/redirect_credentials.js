// What goes along with a redirect to another host, and what stays.
import http from 'k6/http';
import { check } from 'k6';
const port = __ENV.BASE_URL.split(':')[2];
export const options = { hosts: { 'one.test': '127.0.0.1', 'sub.one.test': '127.0.0.1', 'two.test': '127.0.0.1' } };
export default function () {
  for (const [from, to] of [['one', 'one'], ['one', 'two'], ['one', 'sub.one'], ['sub.one', 'one']]) {
    const url = `http://${from}.test:${port}/redirect-to?url=${encodeURIComponent(`http://${to}.test:${port}/headers`)}`;
    const r = http.get(url, { headers: { Authorization: 'Own x', Cookie: 'c=d', 'X-Own': 'kept', 'WWW-Authenticate': 'y' }, cookies: { own: '1' } });
    const get = (name) => r.json(`headers.${name}`);
    check(r, { [`${from} to ${to}: ${get('Authorization')} ${get('Cookie')} ${get('X-Own')} ${get('Www-Authenticate')} ${String(get('Referer')).replace(port, 'PORT').split('?')[0]}`]: true });
    const user = http.get(url.replace('http://', 'http://user:pass@'));
    check(user, { [`${from} to ${to} with a user: ${user.json('headers.Authorization')} ${String(user.json('headers.Referer')).replace(port, 'PORT').split('?')[0]}`]: true });
  }
}
