// Values of setup() that JSON has no word for, and a list that grows.
import { check } from 'k6';
export const options = { iterations: 2 };
export function setup() { return { list: [1], date: new Date(0), gone: undefined, nan: NaN }; }
export default function (data) {
  check(1, { [`${data.list.length} ${data.date} ${'gone' in data} ${data.nan}`]: true });
  data.list.push(2);
}
