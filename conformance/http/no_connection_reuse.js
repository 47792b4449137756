// A connection for each request.
import http from 'k6/http';
import { check } from 'k6';
import { Counter } from 'k6/metrics';
const dialled = new Counter('dialled');
export const options = { noConnectionReuse: true };
export default function () { for (let i = 0; i < 3; i += 1) if (http.get(`${__ENV.BASE_URL}/f/1`).timings.connecting > 0) dialled.add(1); }
