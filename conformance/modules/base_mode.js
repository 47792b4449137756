// --compatibility-mode=base.
// flags: --compatibility-mode base
import { check } from 'k6';
export default function () { check(1, { [`global ${typeof global}`]: true }); }
