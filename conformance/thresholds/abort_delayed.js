// delayAbortEval: not yet.
import { sleep } from 'k6';
import { Rate } from 'k6/metrics';
const ok = new Rate('went_well');
export const options = {
  iterations: 1,
  thresholds: { went_well: [{ threshold: 'rate>0.5', abortOnFail: true, delayAbortEval: '30s' }] },
};
export default function () { ok.add(false); sleep(2.6); }
