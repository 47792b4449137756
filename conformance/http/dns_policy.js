// dns: policies and selections that a name of this machine obeys.
import http from 'k6/http';
import { check } from 'k6';
export const options = { dns: { ttl: '0', select: 'first', policy: 'onlyIPv4' } };
export default function () { check(http.get(`http://localhost:${__ENV.BASE_URL.split(':')[2]}/f/1`), { 'by IPv4': (r) => r.remote_ip === '127.0.0.1' }); }
