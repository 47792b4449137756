// Redirects, relative and absolute.
// imports
import { check } from 'k6';
import { a } from '{MODULES}/redirect/a.js';
import { b } from '{MODULES}/moved/redirect/b.js';
export default function () { check(1, { [a + b]: true }); }
