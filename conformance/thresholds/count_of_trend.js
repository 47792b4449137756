// A trend has no count.
import { Trend } from 'k6/metrics';
const size = new Trend('size');
export const options = { thresholds: { size: ['count>0'] } };
export default function () { size.add(10); }
