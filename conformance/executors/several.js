// Several scenarios with functions, tags and variables of their own.
// out: json
import { check } from 'k6';
export const options = {
  scenarios: {
    buyers: { executor: 'per-vu-iterations', vus: 2, exec: 'buy', env: { WHO: 'buyer' }, tags: { kind: 'b' } },
    readers: { executor: 'shared-iterations', vus: 1, iterations: 3, exec: 'read', env: { WHO: 'reader' } },
  },
};
export function buy() { check(__ENV.WHO, { buyer: (who) => who === 'buyer' }); }
export function read() { check(__ENV.WHO, { reader: (who) => who === 'reader' }); }
