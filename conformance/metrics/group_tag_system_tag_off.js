// flags: --system-tags status,scenario
// out: json
// Without the system tag, a tag `group` is the script's alone.
import { group } from 'k6';
import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
const steps = new Counter('steps');
export const options = { scenarios: { one: { executor: 'per-vu-iterations', tags: { group: 'of the scenario' } } } };
export default function () {
  steps.add(1, { what: 'begin' });
  group('a', () => {
    steps.add(1, { what: 'a' });
    exec.vu.metrics.tags.group = 'own';
    steps.add(1, { what: 'own' });
    group('b', () => steps.add(1, { what: 'b' }));
  });
  steps.add(1, { what: 'after' });
}
