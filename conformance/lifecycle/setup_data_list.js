// What iterations change in the data of setup().
import { check } from 'k6';
export const options = { iterations: 2 };
export function setup() { return { list: [1], object: {} }; }
export default function (data) {
  check(1, { [`list ${data.list.length}`]: true, [`object ${Object.keys(data.object)} ${data.own}`]: true });
  data.list.push(2);
  data.object.a = 1;
  data.own = 1;
}
