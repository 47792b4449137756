// A value of setup() that JSON has no word for.
import { check } from 'k6';
export function setup() { return { nan: NaN }; }
export default function (data) { check(1, { [`${data.nan}`]: true }); }
