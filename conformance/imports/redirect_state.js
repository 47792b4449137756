// A module by two URLs is two modules, also where one redirects to the other.
// imports
import { check } from 'k6';
import { call } from '{MODULES}/state.js';
import { call as other } from '{MODULES}/redirect/state.js';
export default function () { check(1, { [`${call()} ${call()} ${other()}`]: true }); }
