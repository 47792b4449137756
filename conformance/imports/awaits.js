// Top-level await in a module on a server.
// imports
import { check } from 'k6';
import { value } from '{MODULES}/awaits.js';
export default function () { check(1, { [value]: true }); }
