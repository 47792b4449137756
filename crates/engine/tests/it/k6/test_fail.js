import exec from 'k6/execution';
export default function () { console.log(exec.test.fail('because')); console.log('goes on'); exec.test.fail(); }
