// Scenarios with functions of their own need no default.
import { check } from 'k6';
export const options = { scenarios: { s: { executor: 'per-vu-iterations', exec: 'mine' } } };
export function mine() { check(1, { mine: true }); }
