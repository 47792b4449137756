// Groups of the summary: those entered and those of checks, not what tags of other samples name.
import { check, group } from 'k6';
import { Counter } from 'k6/metrics';
const hits = new Counter('hits');
export const options = { thresholds: { 'hits{group:::fake}': ['count==1'], 'hits{group:::setup}': ['count==1'], 'hits{group:::real}': ['count==1'] } };
export function setup() { hits.add(1); }
export default function () {
  hits.add(1, { group: '::fake' });
  check(1, { tagged: () => true }, { group: '::tagged' });
  group('real', () => hits.add(1));
  group('empty', () => {});
}
export function teardown() { hits.add(1); }
