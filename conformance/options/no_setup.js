// --no-setup: the script gets no data.
// flags: --no-setup
import { check } from 'k6';
export function setup() { return { a: 1 }; }
export default function (data) { check(data, { 'no data': (data) => data === undefined || data === null }); }
export function teardown() { check(1, { 'teardown ran': true }); }
