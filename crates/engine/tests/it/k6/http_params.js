import http from 'k6/http';
export const options = { userAgent: 'agent/1', thresholds: { 'http_reqs{color:red}': ['count==1'], 'http_reqs{n:5}': ['count==1'], 'http_reqs{name:given}': ['count==1'], 'http_reqs{url:given}': ['count==1'] } };
const base = `http://${__ENV.TARGET}`;
export default function () {
  const headers = (params) => { const h = http.get(`${base}/headers`, params).json('headers'); return JSON.stringify(h, Object.keys(h).sort()); };
  console.log(headers());
  console.log(headers({ headers: { 'User-Agent': 'mine', 'x-lower': 1, 'X-Bool': true, 'X-List': ['a', 'b'], 'X-Num': 1.5 } }));
  console.log(headers({ headers: { Host: 'example.com' } }));
  console.log(headers({ headers: { 'X-Null': null, 'X-Undef': undefined, 'X-Empty': '' } }));
  console.log(headers({ headers: { 'User-Agent': '' } }));
  const basic = http.get(`http://user:pa%20ss@${__ENV.TARGET}/basic-auth/user/pa%20ss`); console.log(basic.status, basic.url.replace(__ENV.TARGET, 'T'), basic.request.url.replace(__ENV.TARGET, 'T'), JSON.stringify(basic.request.headers));
  http.get(`${base}/get`, { tags: { color: 'red', n: 5, ok: true } });
  http.get(`${base}/get?x=1`, { tags: { name: 'given' } });
  for (const tags of [{ a: {} }, { a: null }, { a: [] }, 'text', 5, null, { a: undefined }]) try { const r = http.get(`${base}/get`, { tags }); console.log(r.status, r.error); } catch (e) { console.log(String(e)); }
  for (const p of ['text', 5, [], true]) try { console.log(http.get(`${base}/get`, p).status); } catch (e) { console.log(String(e)); }
  console.log(http.get(`${base}/get`, { unknown: 1, auth: 'basic' }).status);
  try { console.log(http.get(`${base}/get`, { jar: 5 }).status); } catch (e) { console.log(String(e)); }
  try { console.log(http.get(`${base}/get`, { headers: 'x' }).status); } catch (e) { console.log(String(e)); }
  try { console.log(http.get(`${base}/get`, { cookies: 'x' }).status); } catch (e) { console.log(String(e)); }
  try { console.log(http.get(`${base}/get`, { redirects: 'x' }).status); } catch (e) { console.log(String(e)); }
  try { console.log(http.get(`${base}/get`, { responseCallback: 5 }).status); } catch (e) { console.log(String(e)); }
}
