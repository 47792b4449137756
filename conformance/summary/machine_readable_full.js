// The newer JSON summary with requests, in full mode.
// flags: --new-machine-readable-summary --summary-mode=full
import http from 'k6/http';
import { group, check } from 'k6';
export default function () { group('g', () => check(http.get(`${__ENV.BASE_URL}/f/10`), { ok: (r) => r.status === 200 })); }
