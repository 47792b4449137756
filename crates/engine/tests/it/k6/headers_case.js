import http from 'k6/http';
const base = `http://${__ENV.TARGET}`;
export const options = { userAgent: 't' };
export default function () {
  const r = http.get(`${base}/response-headers?x-lower-CASE=1&ETag=x&www-authenticate=Basic&content-md5=q&X-Empty=&x_under=1`);
  for (const n of ['X-Lower-Case', 'Etag', 'ETag', 'Www-Authenticate', 'Content-Md5', 'X-Empty', 'X_under', 'x-lower-case']) console.log(n, JSON.stringify(r.headers[n]));
  const h = http.get(`${base}/headers`, { headers: { 'content-TYPE': 'a', 'X-A': 'one', 'x-a': 'two', 'X-Sp': '  padded  ', 'X-Uni': 'ü', Connection: 'close', 'Transfer-Encoding': 'chunked', Cookie: 'raw=1', 'Accept-Encoding': 'gzip' }, cookies: { p: '1' } });
  const got = h.json('headers'); console.log(h.status, h.error); if (got) console.log(JSON.stringify(got, Object.keys(got).sort()));
  console.log(JSON.stringify(h.request.headers, Object.keys(h.request.headers).sort()));
  const basic = http.get(`http://u:p@${__ENV.TARGET}/basic-auth/u/p`, { headers: { Authorization: 'Basic bad' } }); console.log(basic.status);
  console.log(http.get(`http://u:wrong@${__ENV.TARGET}/basic-auth/u/p`).status, http.get(`${base}/basic-auth/u/p`, { headers: { Authorization: 'Basic dTpw' } }).status);
}
