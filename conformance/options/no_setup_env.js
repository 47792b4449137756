// K6_NO_SETUP.
// env: K6_NO_SETUP=true
import { check } from 'k6';
export function setup() { check(1, { 'setup ran': true }); }
export default function () { check(1, { ran: true }); }
