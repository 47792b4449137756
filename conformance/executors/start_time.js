// Scenarios one after the other.
import { check } from 'k6';
import exec from 'k6/execution';
export const options = {
  scenarios: {
    second: { executor: 'per-vu-iterations', startTime: '500ms', exec: 'second' },
    first: { executor: 'per-vu-iterations', exec: 'first', vus: 2 },
  },
};
export function first() { check(exec.vu.iterationInInstance, { 'first is first': (n) => n === 0 }); }
export function second() { check(exec.instance.iterationsCompleted, { 'two are done': (n) => n === 2 }); }
