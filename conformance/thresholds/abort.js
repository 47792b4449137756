// abortOnFail ends the run; teardown and summary still come.
// varies: iterations
import { sleep, check } from 'k6';
import { Rate } from 'k6/metrics';
const ok = new Rate('went_well');
export const options = { vus: 1, duration: '20s', thresholds: { went_well: [{ threshold: 'rate>0.5', abortOnFail: true }] } };
export default function () { ok.add(false); sleep(0.1); }
export function teardown() { check(1, { 'teardown ran': true }); }
