// Connections last over iterations, unless told otherwise.
import http from 'k6/http';
import { Counter } from 'k6/metrics';
const dialled = new Counter('dialled');
export const options = { iterations: 3 };
export default function () { if (http.get(`${__ENV.BASE_URL}/f/1`).timings.connecting > 0) dialled.add(1); }
