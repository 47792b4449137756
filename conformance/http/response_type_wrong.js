// A type of response that does not exist.
import http from 'k6/http';
import { check } from 'k6';
export default function () { http.get(`${__ENV.BASE_URL}/f/10`, { responseType: 'xml' }); check(1, { 'not reached': true }); }
