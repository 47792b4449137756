// Requests of a batch in all their forms.
import http from 'k6/http';
import { check } from 'k6';
const base = __ENV.BASE_URL;
export default function () {
  const shown = (r) => `${r.status} ${r.status === 200 && r.body ? `${r.json('method')} ${r.json('data')} ${r.json('headers.X')}` : r.error}`;
  const forms = {
    text: `${base}/anything`, template: http.url`${base}/anything/${1}`, pair: ['GET', `${base}/anything`], lower: ['post', `${base}/anything`, 'a'], with_params: ['PUT', `${base}/anything`, 'b', { headers: { X: 'y' } }],
    get_with_body: ['GET', `${base}/anything`, 'dropped'], object: { url: `${base}/anything` }, object_lower: { method: 'patch', url: `${base}/anything`, body: 'c' }, object_get: { method: 'GET', url: `${base}/anything`, body: 'dropped' },
    object_params: { method: 'POST', url: `${base}/anything`, body: { a: 1 }, params: { headers: { X: 'z' } } }, object_template: { url: http.url`${base}/anything/${2}` }, pair_template: ['GET', http.url`${base}/anything/${3}`], nothing: ['DELETE', `${base}/anything`, null],
  };
  const responses = http.batch(forms);
  for (const name of Object.keys(forms)) check(1, { [`${name}: ${shown(responses[name])}`]: true });
  const list = http.batch(Object.values(forms));
  check(list, { [`list ${Array.isArray(list)} ${list.length} keys ${Object.keys(responses).length} ${Array.isArray(responses)}`]: true });
}
