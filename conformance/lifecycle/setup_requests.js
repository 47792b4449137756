// Requests of setup and teardown.
// out: json
import http from 'k6/http';
export function setup() { return http.get(`${__ENV.BASE_URL}/f/3`).body.length; }
export default function () {}
export function teardown() { http.get(`${__ENV.BASE_URL}/f/4`); }
