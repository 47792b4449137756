// Large, small and fractional values in json and csv.
// out: json csv
import { Trend } from 'k6/metrics';
const size = new Trend('size');
export default function () { [0, -0, 1e-7, 1e-6, 123456789.125, 1e20, 1e21, 1795342781524, 0.1 + 0.2, Number.MAX_VALUE, Number.MIN_VALUE].forEach((value) => size.add(value)); }
