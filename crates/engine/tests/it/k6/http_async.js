import http from 'k6/http';
const base = `http://${__ENV.TARGET}`;
export default async function () {
  const p = http.asyncRequest('GET', `${base}/get?n=1`); console.log(p instanceof Promise);
  const r = await p; console.log(r.status, r.json('args.n'), r.request.method);
  const both = await Promise.all([http.asyncRequest('POST', `${base}/post`, 'b'), http.asyncRequest('GET', `${base}/delay/0.05`)]); console.log(both.map((x) => x.status).join());
  const order = []; const slow = http.asyncRequest('GET', `${base}/delay/0.1`).then(() => order.push('slow')); const fast = http.asyncRequest('GET', `${base}/get`).then(() => order.push('fast')); setTimeout(() => order.push('timer'), 50);
  await Promise.all([slow, fast]); console.log(order.join());
  const f = await http.asyncRequest('GET', 'http://127.0.0.1:1/'); console.log(f.status, f.error_code);
  try { await http.asyncRequest('GET', 'http://127.0.0.1:1/', null, { throw: true }); } catch (e) { console.log('rejected', String(e).replace('GoError: ', '')); }
  const u = await http.asyncRequest('GET', 'http://bad url/'); console.log(u.error_code);
  http.asyncRequest('GET', `${base}/get`).then((x) => console.log('not awaited', x.status));
  const t = await http.asyncRequest('GET', `${base}/get`, null, { tags: { a: {} } }); console.log(t.error);
}
