// An ES module on a server: names, the default and a namespace.
// imports
import { check } from 'k6';
import d, { a } from '{MODULES}/a.js';
import * as all from '{MODULES}/a.js';
export default function () { check(1, { [`${a} ${d()} ${Object.keys(all).sort()}`]: true }); }
