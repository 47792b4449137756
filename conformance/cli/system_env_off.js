// --include-system-env-vars=false.
// flags: --include-system-env-vars=false -e A=1
// env: OUTER=2
import { check } from 'k6';
export default function () { check(1, { [`${__ENV.A}|${__ENV.OUTER}`]: true }); }
