// The scheme in capitals.
// imports
import { check } from 'k6';
import { a } from '{UPPER_MODULES}/a.js';
export default function () { check(1, { [a]: true }); }
