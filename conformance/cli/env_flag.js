// -e sets variables, also empty ones and copies.
// flags: -e A=1 -e B= -e COPIED -e C=x=y
// env: COPIED=copy A=outer
import { check } from 'k6';
export default function () { check(1, { [`${__ENV.A}|${__ENV.B}|${__ENV.COPIED}|${__ENV.C}|${__ENV.NONE}`]: true }); }
