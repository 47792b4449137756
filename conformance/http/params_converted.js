// What a parameter becomes whose type is not the one it should have.
import http from 'k6/http';
import { check } from 'k6';
const date = new Date(0);
const values = [
  ['undefined', undefined], ['null', null], ['true', true], ['text', '1'], ['empty text', ''], ['word', 'x'], ['1.9', 1.9], ['NaN', NaN],
  ['negative', -1], ['object', {}], ['list', []], ['list of one', [1]], ['Number', new Number(1)], ['String', new String('1')],
  ['Boolean', new Boolean(true)], ['Date', date], ['valueOf', { valueOf: () => 1 }], ['toString', { toString: () => '1' }], ['bigint', 1n],
];
function attempt(what, act) {
  let result;
  try { result = act(); } catch (error) { result = `${error}`; }
  check(null, { [`${what}: ${result}`]: true });
}
const given = (headers, own) => JSON.stringify(Object.entries(headers).filter(([name]) => !own.includes(name)));
export default function () {
  for (const [name, value] of values) {
    if (name !== 'bigint') attempt(`redirects ${name}`, () => http.get(`${__ENV.BASE_URL}/redirect/2`, { redirects: value }).status);
    attempt(`timeout ${name}`, () => {
      const response = http.get(`${__ENV.BASE_URL}/get`, { timeout: value === 1.9 ? 5000.5 : value });
      return response.error.startsWith('invalid') ? response.error : 'done';
    });
    attempt(`tag ${name}`, () => http.get(`${__ENV.BASE_URL}/get`, { tags: { a: value } }).error);
    attempt(`tags ${name}`, () => http.get(`${__ENV.BASE_URL}/get`, { tags: value }).error);
    attempt(`header ${name}`, () => http.get(`${__ENV.BASE_URL}/headers`, { headers: { 'X-A': value } }).json('headers.X-A'));
    // What functions are as text differs.
    const isNested = name === 'valueOf' || name === 'toString';
    if (!isNested) attempt(`headers ${name}`, () => given(http.get(`${__ENV.BASE_URL}/headers`, { headers: value }).json('headers'), ['Host', 'User-Agent']));
    attempt(`cookie ${name}`, () => JSON.stringify(http.get(`${__ENV.BASE_URL}/cookies`, { cookies: { a: value }, jar: null }).json()));
    if (!isNested) attempt(`cookies ${name}`, () => JSON.stringify(http.get(`${__ENV.BASE_URL}/cookies`, { cookies: value }).json()));
    attempt(`value of a cookie ${name}`, () => JSON.stringify(http.get(`${__ENV.BASE_URL}/cookies`, { cookies: { a: { value } } }).json()));
    attempt(`replace ${name}`, () => JSON.stringify(http.get(`${__ENV.BASE_URL}/cookies`, { cookies: { a: { value: 'v', replace: value } } }).json()));
    attempt(`params ${name}`, () => http.get(`${__ENV.BASE_URL}/get`, value).status);
    attempt(`auth ${name}`, () => http.get(`${__ENV.BASE_URL}/get`, { auth: value }).error);
    attempt(`throw ${name}`, () => http.get(`${__ENV.BASE_URL}/status/500`, { throw: value }).status);
    attempt(`responseType ${name}`, () => http.get(`${__ENV.BASE_URL}/get`, { responseType: value }).error);
    attempt(`compression ${name}`, () => http.post(`${__ENV.BASE_URL}/post`, 'a', { compression: value }).error);
  }
}
