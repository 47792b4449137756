// A part by scenario.
export const options = {
  scenarios: { a: { executor: 'per-vu-iterations', iterations: 2 }, b: { executor: 'per-vu-iterations', iterations: 3 } },
  thresholds: { 'iterations{scenario:a}': ['count==2'], 'iterations{scenario:b}': ['count==2'] },
};
export default function () {}
