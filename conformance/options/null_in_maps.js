// What is null within a map is empty.
import { check } from 'k6';
import exec from 'k6/execution';
export const options = {
  tags: { a: null, b: 'x' },
  thresholds: { iterations: null, checks: ['rate>0'] },
  scenarios: { s: { executor: 'per-vu-iterations', env: { E: null }, tags: { c: null } } },
};
export default function () {
  const { tags, thresholds } = exec.test.options;
  check(1, { [`${JSON.stringify(tags)} ${JSON.stringify(thresholds)} ${JSON.stringify(__ENV.E)}`]: true });
}
