// A module that is imported twice runs once for each VU.
// files: lib/numbers.js=numbers.js again.js
import { check } from 'k6';
import { counter } from './lib/numbers.js';
import { increment } from './again.js';
export default function () { increment(); check(1, { [`counter ${counter.value}`]: true }); }
