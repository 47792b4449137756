// Walks all objects reachable from the shared realm through properties, prototypes and
// accessors, and tries to write, define, delete, freeze, ... each. Whatever the attempt
// answers, the object must be the same afterwards, for this VU and so for all others.
const realm = Object.getPrototypeOf(globalThis);
const seen = new Set();
const queue = [];
function visit(o) {
  if ((typeof o === 'object' && o !== null) || typeof o === 'function') {
    if (!seen.has(o) && o !== globalThis) { seen.add(o); queue.push(o); }
  }
}
visit(realm);
// What has no name: prototypes of iterators, generators, functions of all kinds.
visit(Object.getPrototypeOf(function* () {}));
visit(Object.getPrototypeOf(async function () {}));
visit(Object.getPrototypeOf(async function* () {}));
visit(Object.getPrototypeOf([][Symbol.iterator]()));
visit(Object.getPrototypeOf(''[Symbol.iterator]()));
visit(Object.getPrototypeOf(new Map()[Symbol.iterator]()));
visit(Object.getPrototypeOf(new Set()[Symbol.iterator]()));
visit(Object.getPrototypeOf('a'.matchAll(/a/g)));
visit(Object.getPrototypeOf(Iterator.from({ next() {} })));
visit(Object.getPrototypeOf([].values().map(x => x)));
visit(Object.getPrototypeOf(Object.getPrototypeOf((function* () {})())));
visit(Object.getPrototypeOf(Object.getPrototypeOf((async function* () {})())));
visit(Object.getPrototypeOf(Int8Array));
visit(Object.getOwnPropertyDescriptor((function () { return arguments; })(), 'callee')?.get);
(function () { 'use strict'; visit(Object.getOwnPropertyDescriptor(arguments, 'callee').get); })();
{ const old = Error.prepareStackTrace; let site; Error.prepareStackTrace = (e, s) => { site = s[0]; return ''; };
  new Error('x').stack; Error.prepareStackTrace = old; visit(Object.getPrototypeOf(site)); }

function snapshot(o) {
  return {
    proto: Object.getPrototypeOf(o),
    extensible: Object.isExtensible(o),
    descriptors: Reflect.ownKeys(o).map(k => [k, Object.getOwnPropertyDescriptor(o, k)]),
  };
}
function same(a, b) {
  if (a.proto !== b.proto || a.extensible !== b.extensible || a.descriptors.length !== b.descriptors.length) return 'shape';
  for (let i = 0; i < a.descriptors.length; i++) {
    const [ka, da] = a.descriptors[i], [kb, db] = b.descriptors[i];
    if (ka !== kb) return 'keys ' + String(ka);
    for (const f of ['value', 'get', 'set', 'writable', 'enumerable', 'configurable'])
      if (!Object.is(da[f], db[f])) return `${String(ka)}.${f}`;
  }
  return null;
}

// Accessors whose state is the VU's own, not the realm's.
const perVu = new Set();
perVu.add(Error); // stackTraceLimit, prepareStackTrace
let attempts = 0;
const marker = { marker: 1 };
function attempt(f) { attempts++; try { f(); } catch (e) { if (!(e instanceof TypeError)) throw e; } }

while (queue.length) {
  const o = queue.pop();
  visit(Object.getPrototypeOf(o));
  for (const key of Reflect.ownKeys(o)) {
    const d = Object.getOwnPropertyDescriptor(o, key);
    visit(d.value); visit(d.get); visit(d.set);
  }
}
const before = new Map([...seen].map(o => [o, snapshot(o)]));
for (const o of seen) {
  if (!isShared(o)) throw new Error('not flagged: ' + String(o) + ' ' + Reflect.ownKeys(o).map(String));
  for (const key of [...Reflect.ownKeys(o), 'aNewName', Symbol('new'), 0, 5]) {
    const d = Object.getOwnPropertyDescriptor(o, key);
    if (!(d && d.set && perVu.has(o))) {
      attempt(() => { o[key] = marker; });
      attempt(() => { Reflect.set(o, key, marker); });
      attempt(() => { Object.assign(o, { [key]: marker }); });
    }
    attempt(() => { Reflect.set({}, key, marker, o); });
    attempt(() => { Object.defineProperty(o, key, { value: marker, configurable: true }); });
    attempt(() => { Reflect.defineProperty(o, key, { get() { return marker; } }); });
    attempt(() => { Object.defineProperties(o, { [key]: { enumerable: true, writable: false } }); });
    attempt(() => { Object.prototype.__defineGetter__.call(o, key, () => marker); });
    attempt(() => { Object.prototype.__defineSetter__.call(o, key, () => marker); });
    attempt(() => { delete o[key]; });
    attempt(() => { Reflect.deleteProperty(o, key); });
  }
  attempt(() => { o.__proto__ = marker; });
  attempt(() => { Object.setPrototypeOf(o, marker); });
  attempt(() => { Reflect.setPrototypeOf(o, null); });
  attempt(() => { Object.preventExtensions(o); });
  attempt(() => { Reflect.preventExtensions(o); });
  attempt(() => { Object.seal(o); });
  attempt(() => { Object.freeze(o); });
  attempt(() => { Error.captureStackTrace(o); });
  attempt(() => { class P extends (function (x) { return x; }) { #p = 1; static t(x) { x.#p = 2; } } P.t(new P(o)); });
  for (const name of ['push', 'unshift', 'splice', 'fill', 'sort', 'reverse', 'copyWithin', 'pop', 'shift'])
    attempt(() => { Array.prototype[name].call(o, marker, 0, marker); });
  attempt(() => { Array.prototype.length = 7; });
  for (const name of ['set', 'add', 'delete', 'clear'])
    for (const C of [Map, Set, WeakMap, WeakSet]) attempt(() => { C.prototype[name]?.call(o, marker, marker); });
}
for (const [o, s] of before) {
  const difference = same(s, snapshot(o));
  if (difference) throw new Error(`changed: ${difference} of ${String(o)}`);
}
globalThis.result = `${seen.size} objects, ${attempts} attempts`;
