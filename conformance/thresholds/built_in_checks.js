// Checks and groups as thresholds.
import { check, group } from 'k6';
export const options = { iterations: 3, thresholds: { checks: ['rate>0.9'], group_duration: ['max<60000'], iteration_duration: ['p(95)<60000'] } };
export default function () { group('g', () => check(1, { one: () => __ITER > 0 })); }
