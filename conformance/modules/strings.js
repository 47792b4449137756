// What is there of the language.
import { check } from 'k6';
export default function () {
  const has = { Map, Set, WeakMap, Proxy, Symbol, Promise, BigInt: typeof BigInt, Intl: typeof Intl, structuredClone: typeof structuredClone };
  check(1, { [`Intl ${has.Intl} BigInt ${has.BigInt}`]: true, [`${[1, [2, [3]]].flat(2)} ${'a-b'.replaceAll('-', '+')} ${[1, 2].at(-1)} ${2n ** 64n}`]: true });
  const { a, ...rest } = { a: 1, b: 2, c: 3 };
  check(1, { [`${a ?? 0} ${JSON.stringify(rest)} ${rest?.d?.e}`]: true });
}
