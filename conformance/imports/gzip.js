// A compressed module.
// imports
import { check } from 'k6';
import { a } from '{MODULES}/gzip/a.js';
export default function () { check(1, { [a]: true }); }
