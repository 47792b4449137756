// 101 is an exception, whatever throw says.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  try { http.get(`http://${__ENV.PEERS}/switching`); } catch (error) { check(error, { [`${error.message}`]: true }); }
}
