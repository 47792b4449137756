// Percentiles however they are written, and a statistic that stands there twice.
import { Trend } from 'k6/metrics';
const size = new Trend('size');
export const options = { iterations: 10, summaryTrendStats: ['p(95.0)', 'p(095)', 'p(1e1)', 'p(99.999)', 'p(0)', 'p(100)', 'count', 'count'] };
export default function () { size.add(__ITER); }
