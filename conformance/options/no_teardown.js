// --no-teardown.
// flags: --no-teardown
import { check } from 'k6';
export default function () { check(1, { ran: true }); }
export function teardown() { check(1, { 'teardown ran': true }); }
