// Tags of the whole run in the script.
// out: json
import { check } from 'k6';
export const options = { tags: { script: 'x', run: 'nightly' } };
export default function () { check(1, { one: true }); }
