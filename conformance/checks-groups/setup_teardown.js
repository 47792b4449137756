// Checks and groups in setup and teardown.
// out: json
import { check, group } from 'k6';
export function setup() { check(1, { 'in setup': true }); group('g', () => check(1, { 'in its group': true })); }
export default function () { check(1, { 'in an iteration': true }); }
export function teardown() { check(1, { 'in teardown': true }); }
