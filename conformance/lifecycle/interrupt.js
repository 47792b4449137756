// Ctrl+C: what runs is cut, teardown and summary come.
// interrupt: running now
import { sleep, check } from 'k6';
export const options = { vus: 3, duration: '30s' };
export default function () { if (__VU === 3) { sleep(0.3); console.log('running now'); } sleep(30); }
export function teardown() { check(1, { teardown: true }); }
