// Percentiles lie between values.
import { Trend } from 'k6/metrics';
const size = new Trend('size');
export const options = { iterations: 10, summaryTrendStats: ['count', 'min', 'p(1)', 'p(25)', 'p(33.3)', 'med', 'p(99)', 'p(99.99)', 'max', 'avg'] };
export default function () { size.add(__ITER * __ITER); }
