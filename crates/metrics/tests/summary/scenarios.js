// No scenario called `default`: groups appear only below their scenario. No group or check in some.
import { check, group } from 'k6';

const once = (exec, startTime) => ({ executor: 'per-vu-iterations', exec, startTime });
export const options = {
  scenarios: {
    'b-x': once('work', '0s'), B_x: once('work', '0.1s'), bx: once('work', '0.2s'), a: once('none', '0.3s'), 1: once('none', '0.4s'),
    throws: once('boom', '0.5s'),
  },
  thresholds: {
    'iterations{scenario:bx}': ['count>0'], 'checks{scenario:bx}': ['rate==1'], 'checks{check:k}': ['rate==1'],
    'group_duration{group:::g}': ['avg<100'], http_req_blocked: ['avg<1'], 'http_req_waiting{a:b}': ['avg<1'],
  },
};

export function setup() { check(1, { 'direct in setup': () => true }); }
export function work() {
  group('g', () => {
    check(1, { k: () => true, 'multi\nline': () => false });
    group('g', () => { check(1, { k: () => true }); });
  });
  check(1, { 'k 2': () => false, '日本語': () => true, '': () => true });
}
export function none() {}
export function boom() { throw new Error('x'); }
export function teardown() { group('cleanup', () => { check(1, { 'in teardown': () => true }); }); }
export function handleSummary(data) { console.log('DATA=' + JSON.stringify(data)); return null; }
