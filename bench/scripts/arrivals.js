// Empty iterations at a constant arrival rate: does each begin when it should?
//
// RATE       iterations a second
// SECONDS    how long
// VUS        VUs to run them
// TREND      measure how late each begins in the script as well (costs k6 and Onrush time)
import exec from 'k6/execution';
import { Trend } from 'k6/metrics';

const RATE = Number(__ENV.RATE || 1000);

export const options = {
  scenarios: {
    arrivals: {
      executor: 'constant-arrival-rate',
      rate: RATE,
      timeUnit: '1s',
      duration: `${__ENV.SECONDS || 5}s`,
      preAllocatedVUs: Number(__ENV.VUS || 100),
    },
  },
  summaryTrendStats: ['avg', 'p(99)', 'max', 'count'],
};

const late = new Trend('start_late', true);

export default __ENV.TREND
  ? function () {
      const intended = (exec.scenario.iterationInTest * 1000) / RATE;
      late.add(exec.instance.currentTestRunDuration - intended);
    }
  : function () {};
