// Frozen options stay as they are.
import { check } from 'k6';
export const options = Object.freeze({ iterations: 2, tags: Object.freeze({ a: 'b' }) });
export default function () { check(1, { [`iterations ${options.iterations}`]: true }); }
