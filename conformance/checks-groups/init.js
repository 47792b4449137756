// A check in init code.
import { check } from 'k6';
check(1, { 'in init code': true });
export default function () {}
