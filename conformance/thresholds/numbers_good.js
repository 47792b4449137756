// Numbers as thresholds may write them.
import { Trend } from 'k6/metrics';
const size = new Trend('size');
export const options = { thresholds: { size: ['avg<1e3', 'avg>-1', 'avg<+Inf', 'avg<Infinity', 'avg>.5', 'avg>1_0', 'avg==10.', 'avg!=nan'] } };
export default function () { size.add(10); }
