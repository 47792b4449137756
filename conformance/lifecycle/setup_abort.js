// setup() that aborts the test.
import exec from 'k6/execution';
import { check } from 'k6';
export function setup() { exec.test.abort('no'); }
export default function () { check(1, { 'not reached': true }); }
export function teardown() { check(1, { teardown: true }); }
