import http from 'k6/http';
export const options = { throw: true, iterations: 2 };
export default function () {
  if (__ITER === 0) { try { http.get('http://127.0.0.1:1/'); } catch (e) { console.log(e instanceof Error, e.name, e.message); } console.log(http.get('http://127.0.0.1:1/', { throw: false }).error_code); }
  else http.get('http://127.0.0.1:1/');
}
