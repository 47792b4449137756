import exec from 'k6/execution';
export default function () {
  try { exec.test.abort('enough'); console.log('not reached'); } catch (e) { console.log('not caught'); } finally { console.log('not run either'); }
}
export function teardown() { console.log('teardown runs'); }
export function handleSummary(data) { console.log('summary'); return {}; }
