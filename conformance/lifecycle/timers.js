// An iteration lasts until its timers are done.
import { check } from 'k6';
export const options = { iterations: 2 };
export default function () { setTimeout(() => check(1, { later: true }), 50); const t = setTimeout(() => check(1, { never: true }), 50); clearTimeout(t); }
