// minIterationDuration leaves setup and teardown alone.
// varies: setup_data
import { check } from 'k6';
export const options = { minIterationDuration: '900ms', iterations: 1 };
export function setup() { return Date.now(); }
export default function (began) { check(Date.now() - began, { 'setup was not filled up': (ms) => ms < 800 }); }
