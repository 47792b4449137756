// -w makes errors of requests exceptions.
// flags: -w
import http from 'k6/http';
import { check } from 'k6';
export default function () { http.get('http://127.0.0.1:1/'); check(1, { 'not reached': true }); }
