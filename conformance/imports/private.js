// User and password in a URL.
// imports
import { check } from 'k6';
import { a } from '{USER_MODULES}/private/a.js';
export default function () { check(1, { [a]: true }); }
