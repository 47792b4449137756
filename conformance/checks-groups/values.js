// What a check takes for true.
import { check } from 'k6';
export default function () {
  check(1, {
    'a text': 'x', 'an empty text': '', one: 1, zero: 0, nan: NaN, null: null, undefined: undefined, 'an object': {},
    'an empty list': [], 'a function': () => 'yes', 'a function of nothing': () => {},
  });
}
