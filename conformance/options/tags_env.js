// Tags of the whole run in a variable.
// env: K6_TAGS=one=1,two=2
// out: json
import { check } from 'k6';
export default function () { check(1, { one: true }); }
