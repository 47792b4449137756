// A group of something that is not a function.
import { check, group } from 'k6';
export default function () { group('g', 5); check(1, { 'not reached': true }); }
