// Numbers as thresholds write them.
import { Trend } from 'k6/metrics';
const size = new Trend('size');
export const options = { thresholds: { size: ['avg<1e3', 'avg>-1', 'avg<+Inf', 'avg>.5', 'avg<0x10', 'avg>1_0'] } };
export default function () { size.add(10); }
