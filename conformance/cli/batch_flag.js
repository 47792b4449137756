// --batch and --batch-per-host.
// flags: --batch 1 --batch-per-host 1
import http from 'k6/http';
export default function () { http.batch(Array(5).fill(`${__ENV.BASE_URL}/f/1`)); }
