// A check without conditions.
import { check } from 'k6';
export default function () { check(1); check(1, { 'not reached': true }); }
