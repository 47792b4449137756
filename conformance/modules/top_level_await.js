// await in init code.
import { check } from 'k6';
const value = await Promise.resolve(5);
export default function () { check(value, { [`value ${value}`]: true }); }
