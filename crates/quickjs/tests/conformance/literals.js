// Literals made and dropped again and again: their hidden classes outlive them and are used again.
for (let round = 0; round < 3; round++) {
  // More classes than are kept, so that the oldest go while others come back.
  for (let i = 0; i < 400; i++) { const o = Function(`return { a${i}: 1, b: ${i}, ['c' + ${i % 7}]: 2 }`)(); eq(Object.keys(o), [`a${i}`, 'b', `c${i % 7}`]); eq(o.b, i); }
}
for (let round = 0; round < 50; round++) {
  const make = () => ({ x: 1, y: { z: round } }); const o = make(), p = make(); eq(o, p); o.y.z++; eq(p.y.z, round);
  delete o.x; eq(Object.keys(o), ['y']); o.x = 2; eq(Object.keys(o), ['y', 'x']); eq(Object.keys(make()), ['x', 'y']);
  const frozen = Object.freeze(make()); throws(TypeError, () => { 'use strict'; frozen.x = 2; }); const again = make(); again.x = 5; eq(again.x, 5);
  Object.defineProperty(p, 'x', { get: () => 'got', enumerable: false }); eq([p.x, Object.keys(p)], ['got', ['y']]); eq(Object.getOwnPropertyDescriptor(make(), 'x'), { value: 1, writable: true, enumerable: true, configurable: true });
  const q = make(); Object.setPrototypeOf(q, { inherited: 1 }); eq(q.inherited, 1); eq(make().inherited, undefined); const sealed = Object.preventExtensions(make()); throws(TypeError, () => { 'use strict'; sealed.w = 1; }); eq(Object.assign(make(), { w: 1 }).w, 1);
  const many = {}; for (let i = 0; i < 20; i++) many[`k${i}`] = i; eq(Object.keys(many).length, 20); eq({ ...many }.k19, 19);
}
eq({ a: 1, a: 2 }, { a: 2 }); eq(Object.keys({ b: 1, a: 2, b: 3 }), ['b', 'a']); eq({ get a() { return 1; }, a: 2 }.a, 2); eq({ a: 1, get a() { return 3; } }.a, 3); eq(Object.keys({ 2: 'b', x: 1, 1: 'a' }), ['1', '2', 'x']); eq(Object.getPrototypeOf({ __proto__: null, a: 1 }), null); eq({ __proto__: Array.prototype, a: 1 } instanceof Array, true); eq({ ['__proto__']: 1 }.__proto__, 1); eq({ a: 1, ...{ a: 2, b: 3 }, b: 4 }, { a: 2, b: 4 }); { const s = Symbol('s'); eq(Object.getOwnPropertySymbols({ [s]: 1, a: 2 }), [s]); }
for (let round = 0; round < 20; round++) {
  const named = () => 1, o = { first: (r) => r, 'with space': function () {}, method() {}, get got() { return 1; }, ['computed' + round]: () => 2, inner: function own() {}, klass: class {} };
  eq([named.name, o.first.name, o['with space'].name, o.method.name, o[`computed${round}`].name, o.inner.name, o.klass.name], ['named', 'first', 'with space', 'method', `computed${round}`, 'own', 'klass']);
  eq([o.first.length, named.length, (() => {}).name, (function () {}).name], [1, 0, '', '']); eq(Object.getOwnPropertyNames((a, b) => a), ['length', 'name']); eq(Object.getOwnPropertyDescriptor(o.first, 'name'), { value: 'first', writable: false, enumerable: false, configurable: true }); eq(Object.getOwnPropertyDescriptor(o.first, 'length').configurable, true); delete o.first.name; eq(o.first.name, ''); eq({ 1: () => {} }[1].name, '1'); class Static { static name = 'mine'; field = () => {}; } eq([Static.name, new Static().field.name], ['mine', 'field']);
}
assertions;
