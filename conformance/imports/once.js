// A module is evaluated once for each VU, whoever imports it.
// imports
import { check } from 'k6';
import { call } from '{MODULES}/state.js';
import { call as again } from '{MODULES}/state.js';
const required = require('{MODULES}/state.js');
export const options = { scenarios: { all: { executor: 'per-vu-iterations', vus: 2, iterations: 1 } } };
export default function () { check(1, { [`${call()} ${again()} ${required.call()} ${required.state.calls}`]: true }); }
