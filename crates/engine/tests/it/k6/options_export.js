import exec from 'k6/execution';
export const options = { vus: 1, iterations: 1, thresholds: { iterations: ['count>0'] }, tags: { a: 'b' } };
export default function () {
  console.log(Object.keys(exec.test.options).sort().join());
  console.log(JSON.stringify(exec.test.options.scenarios));
  console.log(JSON.stringify(exec.test.options.thresholds));
  console.log(options.vus, options.iterations, JSON.stringify(options.tags));
}
