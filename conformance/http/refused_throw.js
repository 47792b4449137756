// Nobody listens, with throw.
import http from 'k6/http';
import { check } from 'k6';
export const options = { throw: true };
export default function () { http.get('http://127.0.0.1:1/'); check(1, { 'not reached': true }); }
