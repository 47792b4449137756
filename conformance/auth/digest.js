// Digest: two requests each time, the first expected to be refused.
import http from 'k6/http';
import { check } from 'k6';

const as = (who, path) => __ENV.BASE_URL.replace('://', `://${who}@`) + path;
const show = (name, res) => {
  const shown = { url: res.url.replace(__ENV.BASE_URL, ''), asked: res.request.url.replace(__ENV.BASE_URL, ''), said: Object.keys(res.request.headers) };
  check(res, { [`${name} ${res.status} ${res.error_code} ${JSON.stringify(shown).replace(/\d+\.\d+\.\d+\.\d+:\d+/g, 'host')}`]: true });
};

export default function () {
  const digest = { auth: 'digest' };
  show('right', http.get(as('user:pass', '/digest-auth/auth/user/pass'), digest));
  show('without qop', http.get(as('user:pass', '/digest-auth/none/user/pass'), digest));
  show('wrong password', http.get(as('user:no', '/digest-auth/auth/user/pass'), digest));
  show('nobody', http.get(`${__ENV.BASE_URL}/digest-auth/auth/user/pass`, { auth: 'digest', tags: { name: 'nobody' } }));
  show('escaped', http.get(as('us%40r:p%20ss', '/digest-auth/auth/us@r/p%20ss?q=1%202'), digest));
  show('a body', http.post(as('user:pass', '/digest-auth/auth/user/pass'), 'body', digest));
  show('not asked for', http.get(as('user:pass', '/get'), digest));
  show('other words', http.get(as('user:pass', '/basic-auth/user/pass'), { auth: 'Digest' }));
  show('basic', http.get(as('user:pass', '/basic-auth/user/pass'), { auth: 'basic' }));
  show('callback', http.get(as('user:pass', '/digest-auth/auth/user/pass'), { auth: 'digest', responseCallback: http.expectedStatuses(404) }));
  show('no callback', http.get(as('user:pass', '/digest-auth/auth/user/pass'), { auth: 'digest', responseCallback: null }));
  show('none', http.get(as('user:pass', '/digest-auth/auth/user/pass'), { auth: 'digest', responseType: 'none' }));
}
