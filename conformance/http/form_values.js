// What values become in a form.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const url = `${__ENV.BASE_URL}/post`;
  const shown = (value) => { const r = http.post(url, value); return `${r.status} ${r.error} ${r.request.body}`; };
  const values = {
    order: { b: 1, a: 2, C: 3 }, list: { a: [1, 'x', true] }, empty_list: { a: [] }, empty: { c: '' },
    numbers: { i: 1, f: 1.5, big: 1e21, tenth: 0.1, million: 1000000, large: 123456789012, small: 1e-7, negative: -0, nan: NaN }, bools: { t: true, f: false },
    escaped: { 'a b&=': 'ä+/?% c', '': 'x' }, none: {},
  };
  for (const name of Object.keys(values)) {
    try { check(1, { [`${name}: ${shown(values[name]).replaceAll('::', ';;')}`]: true }); } catch (error) { check(1, { [`${name} throws ${error.message}`]: true }); }
  }
}
