import { SharedArray } from 'k6/data';
const shared = new SharedArray('values', () => [1, { a: 2 }]);
class Point { constructor() { this.x = 1; this.y = 'two'; } }
export default function () {
  console.log('plain', 1, 1.5, -0, true, null, undefined, NaN, Infinity, 10n);
  console.log({ a: 1, b: 'x', c: [1, 'a', { d: null }], e: undefined });
  console.log([]); console.log({}); console.log([[]]); console.log([undefined, null]);
  console.log(function named() {}, () => 1, class A {});
  console.log(new Date(0), [new Date(86400000)]);
  console.log(new Error('boom'), [new TypeError('inner')]);
  console.log(new Point(), { p: new Point() });
  console.log(new Uint8Array([1, 2, 3]), new Float64Array([1.5]), new Uint8Array(0));
  console.log(new Uint8Array([1, 2]).buffer, new ArrayBuffer(0));
  console.log(new Map([['a', 1]]), new Set([1, 2]), new WeakMap());
  console.log(/re/g, Symbol('s'), [Symbol('t')]);
  console.log(Promise.resolve(1));
  const circular = { name: 'c' }; circular.self = circular; console.log(circular);
  const list = [1]; list.push(list); console.log(list);
  console.log('%s is not a format', 'x', '%d', 5);
  console.log(); console.log(''); console.log('a\nb\tc "quoted" \\');
  console.log('ünïcödé 🎉', { key: 'ü' });
  console.log({ 'key with space': 1, 'a-b': 2, 3: 4 });
  console.log(new String('boxed'), new Number(5), new Boolean(false));
  console.log({ toString() { return 'mine'; } }, { toJSON() { return 'json'; } });
  console.log(Object.create(null), Object.create({ inherited: 1 }));
  console.info('info'); console.warn('warn'); console.error('error'); console.debug('debug');
  console.log({ f() {}, get g() { return 7; } });
  console.log([1, , 3], new Array(3));
  console.log(globalThis === global, typeof console.table, typeof console.trace);
  console.log([1.0, 1e21, 1e-7, 123456789012345680000]);
  console.log({ n: { n: { n: { n: { n: { n: 1 } } } } } });
  console.log('x'.repeat(3), ['x'.repeat(3)]);
  console.log(shared, { shared });
}
