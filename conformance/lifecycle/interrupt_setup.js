// Ctrl+C in setup.
// interrupt: running now
import { sleep, check } from 'k6';
export function setup() { console.log('running now'); sleep(30); }
export default function () { check(1, { 'not reached': true }); }
export function teardown() { check(1, { teardown: true }); }
