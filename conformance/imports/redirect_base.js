// After a redirect, relative imports start from the URL as written.
// imports
import { check } from 'k6';
import { all, place } from '{MODULES}/redirect/lib/index.js';
const own = place.replace(__ENV.MODULES, 'MODULES');
export default function () { check(1, { [`${all} ${own}`]: true }); }
