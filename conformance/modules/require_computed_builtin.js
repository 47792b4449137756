// Built-in modules whose names are computed: one that VU 0 asks for, one that only VUs ask for.
import { check } from 'k6';

const encoding = require(['k6', 'encoding'].join('/'));
let refused = 'there';
if (__VU > 0) {
  try { require(['k6', 'crypto'].join('/')); } catch (e) { refused = String(e); }
}
export const options = { vus: 2, iterations: 2 };
export default function () {
  check(1, { [`${encoding.b64encode('a')} ${refused}`]: true });
}
