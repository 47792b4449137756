// Init code that throws for a VU only.
import { check } from 'k6';
if (__VU === 2) throw new Error('no');
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 2 } } };
export default function () { check(1, { 'not reached': true }); }
