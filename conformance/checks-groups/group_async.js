// A group does not take an asynchronous function.
import { check, group } from 'k6';
export default async function () { group('g', async () => { check(1, { inside: true }); }); check(1, { 'not reached': true }); }
