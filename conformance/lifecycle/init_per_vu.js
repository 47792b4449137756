// Init code runs for each VU.
import { check } from 'k6';
const vu = __VU;
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 3 } } };
export default function () { check(vu, { [`init of ${vu} in ${__VU}`]: true }); }
