// A name that a module does not export.
// files: numbers.js
import { nine } from './numbers.js';
import { check } from 'k6';
export default function () { check(nine, { [`nine ${nine}`]: true }); }
