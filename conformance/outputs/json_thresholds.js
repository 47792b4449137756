// Thresholds and parts of metrics in json lines.
// out: json
import { Trend } from 'k6/metrics';
const size = new Trend('size', true);
export const options = {
  thresholds: { size: ['avg<100', { threshold: 'max<200', abortOnFail: true, delayAbortEval: '1m' }], 'size{a:1}': ['avg>0'], 'size{b:2,a:1}': ['avg>0'] },
};
export default function () { size.add(5, { a: '1' }); }
