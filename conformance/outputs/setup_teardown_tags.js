// Tags of samples of setup() and teardown().
// out: json csv
import { group } from 'k6';
import http from 'k6/http';
import { Counter } from 'k6/metrics';
const hits = new Counter('hits');
export const options = { tags: { run: '1' }, scenarios: { mine: { executor: 'shared-iterations', tags: { place: 's' } } } };
export function setup() { hits.add(1); http.get(`${__ENV.BASE_URL}/`); }
export default function () { group('g', () => hits.add(2, { place: 'call' })); }
export function teardown() { hits.add(4, { run: '2' }); }
