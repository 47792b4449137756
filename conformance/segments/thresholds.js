// Thresholds see an instance's own samples only.
// flags: --execution-segment 0:1/2
export const options = {
  thresholds: { iterations: ['count==10', 'count==5'] },
  scenarios: { s: { executor: 'shared-iterations', vus: 4, iterations: 10 } },
};
export default function () {}
