import http from 'k6/http';
export const options = { thresholds: { 'http_reqs{name:http://TT/anything/${}/x}': ['count>=0'] } };
const base = `http://${__ENV.TARGET}`;
export default function () {
  const id = 5; const u = http.url`${base}/anything/${id}/x`; console.log(u.url === `${base}/anything/5/x`, u.name, u.clean_url);
  const r = http.get(u); console.log(r.status, r.url === u.url, r.request.url === u.url, String(r.json('url')).endsWith('/anything/5/x'));
  console.log(http.post(http.url`${base}/post?x=${1}&y=${'two'}`, 'b').json('args.y'));
  console.log(http.url`plain`.url, http.url`a${1}b${2}c`.name, http.url`${'x'}`.name);
  console.log(http.get(`http://me:secret@${__ENV.TARGET}/get`).url.replace(__ENV.TARGET, 'T'));
  const url = (text) => { const r = http.get(text); console.log(r.status, r.error, String(r.json('url')).replace(__ENV.TARGET, 'T'), r.url.replace(__ENV.TARGET, 'T')); };
  url(`${base}/anything/a b/ü?q=a%20b&c=ü#frag`);
  url(`${base}/anything/%7Euser/%2F?q=%20+`);
  url(`${base}/anything//double//slash/../up/./x`);
  url(`${base}/anything?`); url(`${base}/anything?a=1&a=2&b`); url(`${base}/anything?q={"x":[1]}`); url(`${base}/anything/[x]|y`);
  console.log(http.get(`${base}`).status, http.get(`${base}?q=1`).status);
}
