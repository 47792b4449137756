import exec from 'k6/execution';
try { exec.test.abort('in init'); } catch (e) { console.log('not caught'); }
console.log('not reached');
export default function () {}
