// What values become as a body.
import http from 'k6/http';
import { check } from 'k6';
export default function () {
  const url = `${__ENV.BASE_URL}/post`;
  const values = {
    null: null, undefined, empty: '', text: 'ä€😀', buffer: new Uint8Array([1, 2, 65]).buffer, view: new Uint8Array([65, 66]), part: new Uint8Array([65, 66, 67]).subarray(1),
    data_view: new DataView(new Uint8Array([65]).buffer), number: 5, float: 1.5, true: true, array: ['a', 'b'], array_of_numbers: [1, 2], date: new Date(0), function: () => 1,
  };
  for (const name of Object.keys(values)) {
    try {
      const r = http.post(url, values[name]);
      check(r, { [`${name}: ${r.status} ${r.error} ${r.status === 200 ? `${r.json('headers.Content-Type')} ${r.json('headers.Content-Length')} ${JSON.stringify(r.json('data'))} ${JSON.stringify(r.json('form'))}` : ''}`]: true });
    } catch (error) { check(error, { [`${name} throws ${error.message}`]: true }); }
  }
}
