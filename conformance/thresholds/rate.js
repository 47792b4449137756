// A rate's share.
import { Rate } from 'k6/metrics';
const ok = new Rate('went_well');
export const options = { iterations: 4, thresholds: { went_well: ['rate==0.75', 'rate>0.75', 'rate<=0.75'] } };
export default function () { ok.add(__ITER > 0); }
