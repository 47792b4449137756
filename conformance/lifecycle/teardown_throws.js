// teardown() that throws.
import { check } from 'k6';
export default function () { check(1, { ran: true }); }
export function teardown() { throw new Error('no'); }
