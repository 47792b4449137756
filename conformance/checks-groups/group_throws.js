// A group that throws still has a duration, and the next iteration starts outside.
// out: json
import { check, group } from 'k6';
export const options = { iterations: 2 };
export default function () { check(1, { outside: true }); group('g', () => { throw new Error('no'); }); }
