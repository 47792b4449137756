// What a shortcut does not say stays open in the scenario it becomes.
import { check } from 'k6';
import exec from 'k6/execution';
export const options = { iterations: 2 };
export default function () { check(1, { [JSON.stringify(exec.test.options.scenarios)]: true }); }
