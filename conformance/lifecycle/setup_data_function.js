// Data of setup() with a function inside.
import { check } from 'k6';
export function setup() { return { a: 1, f() {} }; }
export default function (data) { check(data, { [`${data.a} ${'f' in data}`]: true }); }
