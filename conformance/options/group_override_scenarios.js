// Shortcuts of a higher tier replace all scenarios.
// flags: --iterations 3 --vus 1
export const options = {
  scenarios: {
    a: { executor: 'per-vu-iterations', vus: 2, iterations: 2 },
    b: { executor: 'per-vu-iterations', vus: 2, iterations: 2 },
  },
};
export default function () {}
