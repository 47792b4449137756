// import() in init code.
// files: numbers.js
import { check } from 'k6';
const { one } = await import('./numbers.js');
export default function () { check(one, { [`one ${one}`]: true }); }
