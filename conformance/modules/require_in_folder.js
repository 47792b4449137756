// require() in a module of another folder is relative to that module.
// files: lib/requires.js=requires.js lib/lib.cjs.js=lib.cjs.js
import { check } from 'k6';
import { answer, later } from './lib/requires.js';
const called = later();
export default function () { check(1, { [`${answer} ${called}`]: true }); }
