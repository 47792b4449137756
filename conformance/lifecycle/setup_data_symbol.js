// setup() that returns a symbol.
import { check } from 'k6';
export function setup() { return Symbol('word'); }
export default function (data) { check(1, { [`${typeof data} ${data}`]: true }); }
