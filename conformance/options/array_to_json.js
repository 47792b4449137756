// Lists of options while all lists have a method toJSON.
import { Counter } from 'k6/metrics';
Array.prototype.toJSON = function () { return 'list'; };
const own = new Counter('own');
export const options = {
  thresholds: { own: ['count>0', 'count>100'] },
  tags: { a: 'b' },
  scenarios: { own: { executor: 'shared-iterations', vus: 1, iterations: 2, tags: { c: 'd' } } },
  summaryTrendStats: ['avg', 'max'],
};
export default function () { own.add(JSON.stringify([1]).length); }
