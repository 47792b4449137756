// A CommonJS module on a server, and what it requires there.
// imports
import { check } from 'k6';
import d, { named, path } from '{MODULES}/common.js';
export default function () { check(1, { [`${typeof d} ${named} ${path}`]: true }); }
