// Percentiles that the summary does not show, and how they may be written.
import { Trend } from 'k6/metrics';
const size = new Trend('size');
export const options = {
  iterations: 20,
  summaryTrendStats: ['max'],
  thresholds: { size: ['p(0)==0', 'p(100)==19', 'p(97.5)==18.525', 'p(097.50)<19', 'p(1e1)<2', 'p(+50)==9.5', 'p(50)===9.5'] },
};
export default function () { size.add(__ITER); }
