import http from 'k6/http';
export const options = { userAgent: 'tester' };
const base = `http://${__ENV.TARGET}`;
export default function () {
  const show = (res) => { const j = res.body && res.body[0] === '{' ? res.json() : null; console.log(res.status, res.request.method, JSON.stringify(res.request.body), j && j.method, j && j.data, j && JSON.stringify(j.form)); };
  show(http.get(`${base}/get?a=1`));
  show(http.post(`${base}/post`, 'text'));
  show(http.put(`${base}/put`, JSON.stringify({ a: 1 }), { headers: { 'Content-Type': 'application/json' } }));
  show(http.patch(`${base}/patch`, { b: 'two', a: 1 }));
  show(http.del(`${base}/delete`));
  show(http.del(`${base}/delete`, 'body'));
  show(http.options(`${base}/anything`));
  show(http.request('GET', `${base}/get`));
  show(http.request('post', `${base}/post`, 'lower'));
  show(http.request('PURGE', `${base}/anything`));
  const head = http.head(`${base}/get`); console.log(head.status, JSON.stringify(head.body));
  show(http.post(`${base}/post`)); show(http.post(`${base}/post`, null)); show(http.post(`${base}/post`, ''));
  show(http.get(`${base}/get`, null)); show(http.get(`${base}/get`, undefined, 'extra'));
}
