// exec.instance counts.
import { check } from 'k6';
import exec from 'k6/execution';
export const options = { iterations: 3 };
export default function () {
  const i = exec.instance;
  check(i, { [`completed ${i.iterationsCompleted} interrupted ${i.iterationsInterrupted} active ${i.vusActive} all ${i.vusInitialized}`]: true });
}
