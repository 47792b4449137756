// A module without anything, and one with a byte order mark.
// imports
import { check } from 'k6';
import none from '{MODULES}/empty.js';
import { mark } from '{MODULES}/mark.js';
export default function () { check(1, { [`${typeof none} ${mark}`]: true }); }
