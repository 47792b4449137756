// Variables of a scenario lie over those of the run.
// flags: -e SHARED=run -e OTHER=run
import { check } from 'k6';
export const options = { scenarios: { s: { executor: 'per-vu-iterations', env: { SHARED: 'scenario' } } } };
const before = __ENV.SHARED;
export default function () { check(1, { [`init ${before} now ${__ENV.SHARED} ${__ENV.OTHER}`]: true }); }
