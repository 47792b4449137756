// A module on a server that imports a whole URL.
// imports
import { check } from 'k6';
import { absolute } from '{MODULES}/absolute.js';
export default function () { check(1, { [absolute]: true }); }
