// Samples of setup() and teardown() count, in the metric and in sub-metrics on their group.
import { Counter } from 'k6/metrics';
const hits = new Counter('hits');
export const options = { thresholds: { hits: ['count==7'], 'hits{group:::setup}': ['count==1'], 'hits{group:::teardown}': ['count==4'], 'hits{scenario:default}': ['count==2'] } };
export function setup() { hits.add(1); }
export default function () { hits.add(2); }
export function teardown() { hits.add(4); }
