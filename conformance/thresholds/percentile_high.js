// A percentile over a hundred.
import { Trend } from 'k6/metrics';
const size = new Trend('size');
export const options = { thresholds: { size: ['p(101)<1000'] } };
export default function () { size.add(10); }
