// --user-agent.
// flags: --user-agent 'shopper 2'
import http from 'k6/http';
import { check } from 'k6';
export default function () { const r = http.get(`${__ENV.BASE_URL}/user-agent`); check(r, { [r.json('user-agent')]: true }); }
