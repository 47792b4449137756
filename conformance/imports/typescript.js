// A TypeScript module on a server.
// imports
import { check } from 'k6';
import { sum, Side } from '{MODULES}/typed.ts';
export default function () { check(1, { [`${sum({ left: 1, right: 2 })} ${Side.Right}`]: true }); }
