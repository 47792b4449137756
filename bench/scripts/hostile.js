// Work that takes long within one call of the engine or of a module. Each function goes on for ever or takes seconds;
// `neighbours.js` runs one of them beside a well-behaved VU, and so do tests of the engine.
//
// Names are the rows of the bench's table. Sizes fit into a heap of 96 MB.

import { parseHTML } from 'k6/html';

const forever = (work) => () => {
  for (;;) work();
};
const once = (make) => {
  let made;
  return () => (made ??= make());
};

const HUGE = { length: 2 ** 32 - 1, 0: 1 };
const numbers = once(() => Array.from({ length: 300000 }, (_, i) => (i * 7919) % 300007));
const list = once(() => Array.from({ length: 20000 }, (_, i) => ({ id: i, name: `item ${i}`, tags: ['a', 'b', null] })));
const json = once(() => JSON.stringify(list().concat(list(), list())));
const text = once(() => 'abc déf,'.repeat(500000));
const keyed = once(() => Object.fromEntries(numbers().map((n) => [`k${n}`, n])));
const floats = once(() => new Float64Array(2000000).map((_, i) => (i * 7919) % 300007));
const big = once(() => (1n << 400000n) - 1n);
const wide = once(() => '\u0142' + 'a'.repeat(2000000));
const long = once(() => 'a'.repeat(4000000));
const needle = 'a'.repeat(1000) + 'b';
const quoted = once(() => `"${'x'.repeat(8000000)}"`);
const characters = once(() => Array.from({ length: 20000 }, (_, i) => String.fromCharCode(256 + 2 * i)).join(''));
const attributes = once(() => Array.from({ length: 30000 }, (_, i) => ` a${i}`).join(''));
const page = once(() => parseHTML('<i></i>'.repeat(20000)));
const nested = (depth) => '['.repeat(depth) + ']'.repeat(depth);

export const hostile = {
  'empty loop': () => {
    for (;;);
  },
  'JSON.parse': forever(() => JSON.parse(json())),
  'JSON.parse of one text': forever(() => JSON.parse(quoted())),
  'JSON.stringify': forever(() => JSON.stringify(list())),
  'JSON.stringify of one text': forever(() => JSON.stringify(text())),
  'deep JSON': forever(() => {
    try {
      JSON.parse(nested(100000));
    } catch {
      JSON.parse(nested(500));
    }
  }),
  'sort of numbers as texts': forever(() => numbers().slice().sort()),
  'sort with a comparator': forever(() => numbers().slice().sort((a, b) => a - b)),
  'sort with a built-in comparator': forever(() => numbers().slice().sort(Math.atan2)),
  'typed sort': forever(() => floats().slice().sort()),
  'typed fill': forever(() => floats().fill(1)),
  'typed copies': forever(() => new Float32Array(floats()).map((x) => x + 1).set(floats().subarray(9))),
  'backtracking pattern': () => /^(a+)+$/.test('a'.repeat(50) + 'b'),
  'backtracking pattern with back reference': () => /^(a|aa)+\1$/.test('a'.repeat(60) + 'b'),
  'back reference over a long text': () => /^(a+)\1b/.test(long()),
  'pattern with a large class': forever(() => new RegExp(`[${characters()}]`)),
  'pattern over a long text': forever(() => text().match(/(b)(c|x) d/g)),
  'replace of a pattern': forever(() => text().slice(0, 250_000).replace(/[a-c]/g, '<$&>')),
  'indexOf in wide text': forever(() => wide().indexOf(needle)),
  'lastIndexOf': forever(() => long().lastIndexOf(needle)),
  'replaceAll': forever(() => text().replaceAll(',', ';')),
  'split and join': forever(() => text().split(',').join(';')),
  'split by a pattern': forever(() => text().split(/,/)),
  'normalize and case': forever(() => text().normalize('NFD').toUpperCase().localeCompare(text())),
  'encodeURIComponent': forever(() => decodeURIComponent(encodeURIComponent(text()))),
  'texts as keys': forever(() => ({ [text() + Math.random()]: 1 })),
  'texts in a Map': forever(() => new Map([[text() + Math.random(), 1]])),
  'concatenation': () => {
    for (let s = ''; ; s = s.length > 1e7 ? '' : s + text()) s.charCodeAt(s.length - 1);
  },
  'String.raw': () => String.raw({ raw: { length: 2 ** 32 } }),
  'repeat and pad': forever(() => 'xy'.repeat(5000000).padStart(12000000, 'abc').trim()),
  'array-like: unshift': () => Array.prototype.unshift.call({ ...HUGE }, 1),
  'array-like: reverse': () => Array.prototype.reverse.call({ ...HUGE }),
  'array-like: concat': () => [].concat({ ...HUGE, [Symbol.isConcatSpreadable]: true }),
  'array-like: slice': () => Array.prototype.slice.call(HUGE, 5),
  'array-like: splice': () => Array.prototype.splice.call({ ...HUGE }, 1, 1),
  'array-like: flat': () => Array.prototype.flat.call(HUGE),
  'array-like: indexOf': () => Array.prototype.indexOf.call(HUGE, 9),
  'array-like: lastIndexOf': () => Array.prototype.lastIndexOf.call(HUGE, 9),
  'array-like: includes': () => Array.prototype.includes.call(HUGE, 9),
  'array-like: copyWithin': () => Array.prototype.copyWithin.call({ ...HUGE }, 1, 0),
  'array-like: join': () => Array.prototype.join.call(HUGE, ''),
  'array-like: sort': () => Array.prototype.sort.call({ ...HUGE }),
  'array-like: map': () => Array.prototype.map.call({ length: 2 ** 31 }, (x) => x),
  'array-like: forEach': () => Array.prototype.forEach.call(HUGE, () => {}),
  'array-like: Array.from': () => Array.from({ length: 2 ** 32 - 1 }),
  'array-like: shift': () => Array.prototype.shift.call({ ...HUGE }),
  'arrays': forever(() => numbers().concat(numbers()).reverse().copyWithin(1, 0).includes(-1)),
  'spread': forever(() => [...numbers(), ...numbers()].length),
  'keys of an object': forever(() => Object.entries({ ...keyed() }).length),
  'for…in': forever(() => {
    for (const key in keyed()) if (key === '') return;
  }),
  'freeze': forever(() => Object.freeze(numbers().slice())),
  'Map and Set': forever(() => new Set(numbers()).union(new Set(list())).size + new Map(numbers().entries()).size),
  'Map.clear': forever(() => new Map(numbers().map((n) => [n, {}])).clear()),
  'BigInt': forever(() => String(big() * big())),
  'BigInt division': forever(() => (big() * big()) / (big() - 7n)),
  'proxy': forever(() => Reflect.ownKeys(new Proxy({}, { ownKeys: () => Array.from({ length: 3000 }, (_, i) => `k${i}`) }))),
  'chain of proxies': () => {
    let proxy = {};
    for (let i = 0; i < 1000; i++) proxy = new Proxy(proxy, {});
    for (;;) proxy.x;
  },
  'generator': () => {
    function* numbers() {
      for (;;) yield 1;
    }
    for (const _ of numbers());
  },
  'spread of an endless generator': () => {
    function* texts() {
      for (;;) yield undefined;
    }
    for (;;) {
      try {
        Math.max(...texts());
      } catch {}
    }
  },
  'eval': forever(() => (0, eval)('1;'.repeat(100000))),
  'new RegExp': forever(() => new RegExp('(?:ab|cd)'.repeat(20000))),
  'microtasks': async () => {
    for (;;) await null;
  },
  '100,000 timers': () => {
    for (let i = 0; i < 99999; i++) setTimeout(() => {}, i % 1000);
    const ids = Array.from({ length: 1 }, () => setInterval(() => {}, 0));
    return new Promise(() => ids);
  },
  '100,000 rejections': async () => {
    for (;;) {
      const promises = Array.from({ length: 100000 }, (_, i) => Promise.reject(i));
      await Promise.allSettled(promises);
    }
  },
  'promises': async () => {
    for (;;) await Promise.all(Array.from({ length: 50000 }, async (_, i) => i));
  },
  'cyclic garbage': forever(() => {
    const node = { list: [1, 2, 3] };
    node.node = node;
  }),
  'cyclic garbage in a large heap': () => {
    const kept = list().map((item) => ({ ...item, item }));
    for (;;) {
      const node = { kept };
      node.node = node;
    }
  },
  'freeing lists': forever(() => Array.from({ length: 200000 }, (_, i) => [i])),
  'freeing a chain': forever(() => {
    let chain = null;
    for (let i = 0; i < 200000; i++) chain = { chain };
  }),
  'errors with stacks': forever(() => {
    const down = (n) => {
      if (n > 0) down(n - 1);
      else throw new Error('deep');
    };
    try {
      down(200);
    } catch {}
  }),
  'out of memory': forever(() => {
    try {
      for (const kept = []; ; ) kept.push(new Array(1000).fill(1));
    } catch {}
  }),
  'HTML: parsing': forever(() => parseHTML('<p class=a>x</p>'.repeat(100000))),
  'HTML: attributes of one tag': forever(() => parseHTML(`<p${attributes()}>`)),
  'HTML: nth-last-child': forever(() => page().find('i:nth-last-child(2n)')),
  'HTML: siblings': forever(() => page().find('b ~ i')),
  'HTML: has': forever(() => page().find(':has(b) i')),
  'iterations of nothing': () => {},
};
