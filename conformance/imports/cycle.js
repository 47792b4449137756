// Modules on servers that import each other, and one that imports itself.
// imports
import { check } from 'k6';
import { both } from '{MODULES}/cycle/one.js';
import { seen } from '{MODULES}/cycle/two.js';
import { names } from '{MODULES}/itself.js';
export default function () { check(1, { [`${both()} ${seen()} ${names()}`]: true }); }
