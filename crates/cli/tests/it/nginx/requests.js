// What a script sees of nginx. Every check's name says what came instead, so that a failure explains itself.
import http from 'k6/http';
import { check } from 'k6';

const { PLAIN, TLS, HTTP2 } = __ENV;

export const options = {
  insecureSkipTLSVerify: true,
  thresholds: { checks: ['rate==1'] },
};

function is(what, actual, expected) {
  const same = JSON.stringify(actual) === JSON.stringify(expected);
  check(null, { [same ? what : `${what}: ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`]: () => same });
}

function everywhere(base, proto) {
  const get = (path, params) => http.get(base + path, params);
  const on = (what) => `${proto} ${base.split(':')[0]}: ${what}`;

  let res = get('/small.txt');
  is(on('a file'), [res.status, res.proto, res.body, res.headers['Content-Type']], [200, proto, 'small\n', 'text/plain']);
  res = get('/big.txt', { headers: { 'Accept-Encoding': 'gzip' } });
  is(on('gzip'), [res.headers['Content-Encoding'], res.body.length, res.body.slice(-4)], ['gzip', 200000, 'end\n']);
  res = get('/behind');
  is(on('chunks'), [res.status, res.body.length], [200, 200000]);
  res = get('/big.txt', { responseType: 'none' });
  is(on('discarded'), [res.status, res.body], [200, null]);
  res = get('/trickled.txt');
  is(on('trickled'), [res.body.length, res.timings.receiving > 20], [75000, true]);
  res = http.head(base + '/big.txt');
  is(on('HEAD'), [res.status, res.body, res.headers['Content-Length']], [200, '', '200000']);
  is(on('204'), get('/no-content').body, null);
  is(on('404'), [get('/missing').status, get('/missing').error_code], [404, 1404]);

  res = http.post(base + '/moved/301', 'body');
  is(on('301'), [res.status, res.url], [200, base + '/protocol']);
  is(on('302'), http.post(base + '/moved/302', 'body').body.split(' ')[0], 'GET');
  is(on('303'), http.put(base + '/moved/303', 'body').body.split(' ')[0], 'GET');
  is(on('307'), http.post(base + '/moved/307', 'body').body.split(' ')[0], 'POST');
  is(on('308'), http.put(base + '/moved/308', 'body').body.split(' ')[0], 'PUT');
  is(on('not followed'), get('/moved/302', { redirects: 0 }).status, 302);

  is(on('locked'), get('/locked').status, 401);
  is(on('unlocked'), http.get((base + '/locked').replace('://', '://ann:secret@')).status, 200);
  is(on('host'), get('/method', { headers: { Host: 'other.example', 'User-Agent': 'me' } }).body, 'GET other.example me');

  const bytes = new Uint8Array(1 << 20).map((_, index) => index * 7);
  is(on('upload'), [201, 204].includes(http.put(`${base}/upload/${__VU}.bin`, bytes.buffer).status), true);
  res = get(`/${__VU}.bin`, { responseType: 'binary' });
  is(on('and back'), [res.body.byteLength, new Uint8Array(res.body)[1000]], [1 << 20, (1000 * 7) % 256]);
  is(on('deleted'), http.del(`${base}/upload/${__VU}.bin`).status, 204);
  is(on('too large'), http.post(base + '/too-large', bytes.buffer).status, 413);
  is(on('after that'), get('/small.txt').status, 200);
  const all = http.batch(Array(30).fill(['GET', base + '/small.txt']));
  is(on('batch'), all.every((one) => one.body === 'small\n'), true);
}

export default function () {
  everywhere(`http://${PLAIN}`, 'HTTP/1.1');
  everywhere(`https://${TLS}`, 'HTTP/1.1');
  everywhere(`https://${HTTP2}`, 'HTTP/2.0');

  // Connections: which one nginx saw, and how often.
  const twice = [1, 2, 3].map(() => http.get(`http://${PLAIN}/two-requests`).body.split(' '));
  is('a connection ends after two requests', twice[2][0] !== twice[0][0], true);
  const closed = [1, 2].map(() => http.get(`http://${PLAIN}/closes`).body);
  is('a connection ends after one', closed[0] !== closed[1], true);
  const nothing = http.get(`http://${PLAIN}/nothing`);
  is('no answer', [nothing.status, nothing.error_code, nothing.error], [0, 1000, 'EOF']);

  const res = http.get(`https://${TLS}/protocol`);
  is('TLS', [res.body.split(' ')[1], res.tls_version, res.tls_cipher_suite.startsWith('TLS_')], ['TLSv1.3', 'tls1.3', true]);
  const wrong = http.get(`http://${TLS}/protocol`);
  is('HTTP to the port of HTTPS', wrong.status, 400);
}
