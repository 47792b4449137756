// What check() does with sets that are no plain objects: the letters of a string are checks, other values have none.
import { check } from 'k6';

export const options = { iterations: 1 };

export default function () {
  const sets = {
    number: 1, zero: 0, text: 'ab', empty: '', yes: true, no: false, symbol: Symbol('a'), big: 10n, nan: NaN,
    'String object': new String('xy'), array: ['', 1, () => true], function: () => false, date: new Date(0),
    pattern: /a/, map: new Map([['a', 0]]), bytes: new Uint8Array([1, 0]), promise: Promise.resolve(1),
    inherited: Object.create({ p: false }), hidden: Object.defineProperty({}, 'h', { value: false }),
    'with symbols': { [Symbol('q')]: false, c: true }, 'function with checks': Object.assign(() => 1, { f: 0 }),
  };
  for (const [name, set] of Object.entries(sets)) {
    check(1, { [`${name}: ${check(1, set)}`]: true });
  }
  const tags = { number: 1, text: 's', yes: true, null: null, array: ['a'], symbol: Symbol('x'), function: () => 1 };
  for (const [name, tag] of Object.entries(tags)) {
    check(1, { [`tags ${name}: ${check(1, { tagged: true }, tag)}`]: true });
  }
}
