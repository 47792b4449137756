// setup() and teardown() have jars of their own.
import http from 'k6/http';
import { check } from 'k6';
const names = () => JSON.stringify(http.get(`${__ENV.BASE_URL}/cookies`).json('cookies'));
export function setup() { http.get(`${__ENV.BASE_URL}/cookies/set?a=1`); return names(); }
export default function (data) { check(1, { [`setup ${data} iteration ${names()}`]: true }); }
export function teardown(data) { check(1, { [`teardown ${names()}`]: true }); }
