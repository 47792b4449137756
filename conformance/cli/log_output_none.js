// --log-output none.
// flags: --log-output none
import { check } from 'k6';
export default function () { console.log('x'); check(1, { one: true }); }
