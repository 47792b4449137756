// A timer that throws ends its iteration.
import { check } from 'k6';
export const options = { iterations: 2 };
export default function () { setTimeout(() => { throw new Error('no'); }, 10); setTimeout(() => check(1, { 'another timer': true }), 60); }
