// exec.scenario.progress.
import { check } from 'k6';
import exec from 'k6/execution';
export const options = { iterations: 4 };
export default function () { check(1, { [`progress ${exec.scenario.progress}`]: true }); }
