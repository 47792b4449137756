import exec from 'k6/execution';
import { sleep, check } from 'k6';
import { Counter } from 'k6/metrics';
const counter = new Counter('seen');
export const options = {
  tags: { run: 'all' },
  scenarios: {
    first: { executor: 'per-vu-iterations', vus: 1, iterations: 2, exec: 'one', env: { WHO: 'first' }, tags: { part: 'a', run: 'mine' } },
    second: { executor: 'shared-iterations', vus: 1, iterations: 2, exec: 'two', startTime: '300ms', env: { WHO: 'second' } },
    third: { executor: 'constant-arrival-rate', rate: 5, timeUnit: '1100ms', duration: '1s', preAllocatedVUs: 1, gracefulStop: '1s', exec: 'one', startTime: '600ms', env: { WHO: 'third' } },
  },
  thresholds: { 'seen{scenario:first}': ['count==2'], 'seen{part:a}': ['count==2'], 'seen{run:mine}': ['count==2'], 'seen{run:all}': ['count==7'], 'seen{scenario:third}': ['count==5'], 'iterations{scenario:second}': ['count==2'], 'checks{scenario:second}': ['rate==1'], 'iteration_duration{scenario:second}': ['max>0'] },
};
export function one() { counter.add(1); console.log(exec.scenario.name, __ENV.WHO, __ITER, exec.vu.iterationInScenario, exec.vu.iterationInInstance, exec.scenario.iterationInTest, exec.scenario.executor); exec.vu.metrics.tags.leak = 'x'; }
export function two() { counter.add(1); check(1, { ok: true }); console.log(exec.scenario.name, __ENV.WHO, __ITER, exec.vu.iterationInScenario, exec.vu.metrics.tags.leak === (exec.vu.iterationInScenario ? 'y' : undefined)); exec.vu.metrics.tags.leak = 'y'; sleep(0.05); }
export function handleSummary(data) {
  for (const n of Object.keys(data.metrics).filter((n) => data.metrics[n].thresholds).sort()) console.log(n, JSON.stringify(data.metrics[n].thresholds));
  console.log(data.metrics.iterations.values.count);
  return {};
}
