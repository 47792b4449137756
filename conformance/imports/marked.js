// A server that only answers requests with k6's mark.
// imports
import { check } from 'k6';
import { a } from '{MODULES}/marked/a.js';
export default function () { check(1, { [a]: true }); }
