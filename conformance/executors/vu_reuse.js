// A VU that is free again serves the next scenario and keeps its globals.
import { check } from 'k6';
let runs = 0;
export const options = {
  scenarios: {
    a: { executor: 'per-vu-iterations', vus: 1, exec: 'a', maxDuration: '1s', gracefulStop: '0s' },
    b: { executor: 'per-vu-iterations', vus: 1, exec: 'b', startTime: '1s' },
  },
};
export function a() { runs += 1; }
export function b() { runs += 1; check(runs, { [`runs ${runs}`]: true }); }
