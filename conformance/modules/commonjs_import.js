// An ES module imports CommonJS.
// files: lib.cjs.js
import { check } from 'k6';
import lib, { answer } from './lib.cjs.js';
export default function () { check(lib, { [`answer ${answer} ${lib.twice(4)}`]: true }); }
