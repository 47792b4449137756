// A property of nothing.
import { check } from 'k6';
export default function () { const nothing = undefined; nothing.value; check(1, { after: true }); }
