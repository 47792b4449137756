// A module is evaluated once for each VU, whoever imports it.
// imports
import { check } from 'k6';
import { call } from '{MODULES}/state.js';
import { call as again } from '{MODULES}/state.js';
const required = require('{MODULES}/state.js');
export const options = { vus: 2, iterations: 2 };
export default function () { if (__ITER > 0) return; check(1, { [`${call()} ${again()} ${required.call()} ${required.state.calls}`]: true }); }
