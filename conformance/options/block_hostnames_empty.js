// An empty pattern blocks nothing.
import http from 'k6/http';
import { check } from 'k6';
export const options = { blockHostnames: [''] };
export default function () { check(http.get(`${__ENV.BASE_URL}/get`), { [`status`]: (r) => r.status === 200 }); }
