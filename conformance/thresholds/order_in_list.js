// The same expression as a text and as an object; the object's other fields do not make another threshold.
import { Counter } from 'k6/metrics';
const hits = new Counter('hits');
export const options = { thresholds: { hits: ['count>1', { threshold: 'count>1' }, { threshold: 'count<5', abortOnFail: true }] } };
export default function () { hits.add(2); }
