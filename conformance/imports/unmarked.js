// A server that fails for requests with k6's mark is asked again without it.
// imports
import { check } from 'k6';
import { a } from '{MODULES}/unmarked/a.js';
export default function () { check(1, { [a]: true }); }
