// A script from standard input.
// stdin
import { check } from 'k6';
export default function () { check(1, { one: true }); }
