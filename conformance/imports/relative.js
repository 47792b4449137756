// What a module on a server imports: beside it, above it, from the root; re-exports; import.meta.resolve().
// imports
import { check } from 'k6';
import { all, deep, place } from '{MODULES}/lib/index.js';
const own = place.replace(__ENV.MODULES, 'MODULES');
export default function () { check(1, { [`${all} ${deep} ${own}`]: true }); }
