// noSetup and noTeardown in the script.
import { check } from 'k6';
export const options = { noSetup: true, noTeardown: true };
export function setup() { check(1, { 'setup ran': true }); }
export default function () { check(1, { ran: true }); }
export function teardown() { check(1, { 'teardown ran': true }); }
