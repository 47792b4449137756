// A threshold fails and the script aborts: the abort decides.
import exec from 'k6/execution';
export const options = { thresholds: { iterations: ['count>5'] } };
export default function () { exec.test.abort(); }
