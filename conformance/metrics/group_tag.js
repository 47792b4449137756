// out: json
// The tag `group` of a VU is where group() begins.
import { check, group } from 'k6';
import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
const steps = new Counter('steps');
export const options = { iterations: 2 };
function step(what) {
  steps.add(1, { what });
  check(null, { [`${what}: ${exec.vu.metrics.tags.group}`]: true });
}
export default function () {
  step('begin');
  exec.vu.metrics.tags.group = 'own';
  step('own');
  group('outer', () => {
    group('inner', () => {
      step('inner');
      exec.vu.metrics.tags.group = 'changed';
      step('changed');
    });
    step('outer');
  });
  step('after');
  delete exec.vu.metrics.tags.group;
  group('fresh', () => step('fresh'));
  group('around', () => {
    group('deleted', () => { delete exec.vu.metrics.tags.group; });
    step('after deleted');
  });
  step('after around');
  exec.vu.metrics.tags.group = 'left';
  if (exec.vu.iterationInInstance > 0) throw new Error('an exception changes nothing');
}
export function teardown() {
  step('teardown');
}
