// Modules of the script's own, in a folder, with a default and names.
// files: lib/numbers.js=numbers.js
import { check } from 'k6';
import numbers, { one, two as second } from './lib/numbers.js';
import * as all from './lib/numbers.js';
export default function () { check(1, { [`${numbers} ${one} ${second} ${Object.keys(all).sort()}`]: true }); }
