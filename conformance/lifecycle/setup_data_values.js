// Values of setup() that JSON has other words for.
import { check } from 'k6';
export function setup() { return { date: new Date(0), gone: undefined, none: null, text: 'ä', map: { a: [1, 'b'] } }; }
export default function (data) {
  check(1, { [`date ${data.date}`]: true, [`gone ${'gone' in data}`]: true });
  check(1, { [`rest ${JSON.stringify([data.none, data.text, data.map])}`]: true });
}
