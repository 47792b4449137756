// setup() that throws: nothing else runs.
import { check } from 'k6';
export function setup() { throw new Error('no'); }
export default function () { check(1, { 'not reached': true }); }
export function teardown() { check(1, { 'not reached either': true }); }
