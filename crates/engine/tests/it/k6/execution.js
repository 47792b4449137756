import exec, { scenario as named } from 'k6/execution';
export const options = {
  scenarios: { mine: { executor: 'per-vu-iterations', vus: 1, iterations: 2, exec: 'run', env: { WHO: 'scenario' }, tags: { team: 'blue' } } },
  tags: { run: 'r1' },
  thresholds: { 'iterations{team:blue}': ['count==2'], 'iterations{later:yes}': ['count==1'] },
};
if (__VU === 0) for (const get of [() => exec.vu.idInTest, () => exec.scenario.name, () => exec.test.options, () => exec.vu.tags, () => exec.vu.metrics.tags, () => exec.test.fail('x')]) {
  try { get(); console.log('fine'); } catch (e) { console.log(String(e)); }
}
export function setup() {
  console.log('setup', __VU, typeof __ITER, exec.vu.idInTest, exec.vu.idInInstance, exec.vu.iterationInInstance, exec.vu.metrics.tags.group);
  for (const get of [() => exec.scenario.name, () => exec.vu.iterationInScenario, () => exec.scenario.progress]) {
    try { console.log(get()); } catch (e) { console.log(String(e)); }
  }
  console.log(typeof exec.instance.currentTestRunDuration, exec.instance.iterationsCompleted, exec.instance.vusInitialized);
  return { shared: [1], name: 'ü' };
}
export function run(data) {
  console.log(JSON.stringify(data, ['name', 'shared']), __VU, __ITER, __ENV.WHO);
  console.log(exec.vu.idInInstance, exec.vu.idInTest, exec.vu.iterationInInstance, exec.vu.iterationInScenario);
  console.log(exec.scenario.name, named.executor, exec.scenario.iterationInInstance, exec.scenario.iterationInTest, exec.scenario.progress);
  console.log(Math.abs(exec.scenario.startTime - Date.now()) < 60000, exec.scenario.startTime === Math.floor(exec.scenario.startTime));
  console.log(exec.instance.iterationsCompleted, exec.instance.iterationsInterrupted, exec.instance.vusActive, exec.instance.vusInitialized);
  console.log(exec.instance.currentTestRunDuration > 0, exec.instance.currentTestRunDuration < 60000);
  console.log(Object.keys(exec).sort().join(), Object.keys(exec.vu).sort().join(), Object.keys(exec.scenario).sort().join(), Object.keys(exec.test).sort().join(), Object.keys(exec.instance).sort().join());
  const tags = exec.vu.metrics.tags;
  console.log(Object.keys(tags).sort().join(), tags.scenario, tags.team, tags.run, JSON.stringify(tags.group), tags.none);
  if (__ITER === 1) tags.later = 'yes';
  tags.n = 5; tags.b = true;
  console.log(tags.n, typeof tags.n, tags.b, exec.vu.tags.n);
  console.log(JSON.stringify(tags, Object.keys(tags).sort()));
  delete tags.n;
  console.log(tags.n, 'b' in tags);
  try { tags.bad = {}; console.log('no error', tags.bad); } catch (e) { console.log(String(e)); }
  try { tags.bad = null; console.log('no error', tags.bad); } catch (e) { console.log(String(e)); }
  exec.vu.metrics.metadata.trace = 'abc';
  console.log(exec.vu.metrics.metadata.trace, JSON.stringify(exec.vu.metrics.metadata));
  const options = exec.test.options;
  console.log(Object.isFrozen(options), options.scenarios.mine.executor, options.scenarios.mine.vus, options.vus, options.iterations, options.tags.run, options.maxRedirects, options.systemTags.length);
}
export function teardown(data) { console.log('teardown', JSON.stringify(data, ['name', 'shared']), __VU, exec.vu.metrics.tags.group); }
