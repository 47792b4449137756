// An unknown system tag.
// out: json
import { check } from 'k6';
export const options = { systemTags: ['check', 'nonsense'] };
export default function () { check(1, { one: true }); }
