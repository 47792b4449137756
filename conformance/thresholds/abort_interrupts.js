// An abort cuts what runs.
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';
const errors = new Counter('my_errors');
export const options = {
  scenarios: { s: { executor: 'constant-vus', vus: 3, duration: '20s' } },
  thresholds: { my_errors: [{ threshold: 'count<3', abortOnFail: true }] },
};
export default function () { errors.add(1); sleep(30); }
