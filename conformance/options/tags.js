// Tags of the whole run; those of a higher tier replace all of a lower one.
// flags: --tag flag=1 --tag more=2
// out: json
import { check } from 'k6';
export const options = { tags: { script: 'x' } };
export default function () { check(1, { one: true }); }
