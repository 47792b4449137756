// Every way to write that the language has, against well-known shared objects; each must
// throw the trap's TypeError (refused) or do nothing (ignored).
const message = /^cannot change shared built-in property '.*': built-ins are shared by the VUs of a thread in the dense layout; run with --vu-isolation=isolated$/;
let count = 0;
function refused(name, f) {
  const before = sharedViolations();
  try { f(); } catch (e) {
    if (!(e instanceof TypeError) || !message.test(e.message)) throw new Error(`${name}: ${e}`);
    if (sharedViolations() === before) throw new Error(`${name}: not counted`);
    count++;
    return;
  }
  throw new Error(`${name}: not refused`);
}
const A = Array.prototype;
refused('field', () => { A.evil = 1; });
refused('existing field', () => { A.map = 1; });
refused('computed', () => { const k = 'evil'; A[k] = 1; });
refused('element', () => { A[0] = 1; });
refused('far element', () => { A[100] = 1; });
refused('push', () => { A.push(1); });
refused('unshift', () => { A.unshift(1); });
refused('splice', () => { A.splice(0, 0, 1); });
refused('length', () => { A.length = 1; });
refused('symbol', () => { A[Symbol.iterator] = null; });
refused('new symbol', () => { A[Symbol()] = 1; });
refused('compound', () => { Math.counter += 1; });
refused('logical', () => { Math.counter ??= 1; });
refused('increment', () => { Math.counter++; });
refused('destructuring', () => { [Math.a] = [1]; });
refused('object destructuring', () => { ({ a: Math.a } = { a: 1 }); });
refused('for of', () => { for (Math.a of [1]); });
refused('for in', () => { for (Math.a in { x: 1 }); });
refused('delete', () => { delete Math.sin; });
refused('Reflect.set', () => { Reflect.set(Math, 'x', 1); });
refused('Reflect.set receiver', () => { Reflect.set({}, 'x', 1, Math); });
refused('Reflect.set receiver own', () => { Reflect.set({ sin: 1 }, 'sin', 1, Math); });
refused('Reflect.defineProperty', () => { Reflect.defineProperty(Math, 'x', { value: 1 }); });
refused('Reflect.deleteProperty', () => { Reflect.deleteProperty(Math, 'cos'); });
refused('Object.assign', () => { Object.assign(JSON, { parse: 1 }); });
refused('defineProperty', () => { Object.defineProperty(JSON, 'parse', { value: 1 }); });
refused('defineProperty flags', () => { Object.defineProperty(JSON, 'parse', { enumerable: true }); });
refused('defineProperty accessor', () => { Object.defineProperty(JSON, 'parse', { get() {} }); });
refused('defineProperties', () => { Object.defineProperties(String.prototype, { a: { value: 1 }, b: { value: 2 } }); });
refused('__defineGetter__', () => { Promise.__defineGetter__('x', () => 1); });
refused('__defineSetter__', () => { Promise.__defineSetter__('x', () => 1); });
refused('__proto__', () => { Math.__proto__ = {}; });
refused('setPrototypeOf', () => { Object.setPrototypeOf(Math, {}); });
refused('Reflect.setPrototypeOf', () => { Reflect.setPrototypeOf(Math, {}); });
refused('preventExtensions', () => { Object.preventExtensions(Math); });
refused('Reflect.preventExtensions', () => { Reflect.preventExtensions(Math); });
refused('seal', () => { Object.seal(Math); });
refused('freeze', () => { Object.freeze(A); });
refused('freeze function', () => { Object.freeze(parseInt); });
refused('captureStackTrace', () => { Error.captureStackTrace(Math); });
refused('private field', () => { class P extends (function () { return Math; }) { #p = 1; } new P(); });
refused('private method', () => { class P extends (function () { return Math; }) { #p() {} } new P(); });
refused('static block', () => { class P { static { Math.x = 1; } } });
refused('field of a returned this', () => { class P extends (function () { return Math; }) { p = 1; } new P(); });
refused('function name', () => { Object.defineProperty(parseInt, 'name', { value: 'x' }); });
refused('global object', () => { Object.getPrototypeOf(globalThis).x = 1; });
refused('global function', () => { Object.getPrototypeOf(globalThis).parseInt = 1; });
refused('prototype.constructor', () => { Map.prototype.constructor = 1; });
refused('Object.prototype', () => { Object.prototype.x = 1; });
refused('Function.prototype', () => { Function.prototype.call = 1; });
refused('with a proxy', () => { new Proxy(Math, {}).x = 1; });
refused('through super', () => { ({ __proto__: Math, f() { super.x = 1; } }).f.call(Math); });
refused('groupBy callback', () => { Object.groupBy([1], () => { Math.x = 1; }); });
refused('JSON reviver holder', () => { JSON.parse('[1]', function () { Math.x = 1; }); });
refused('structured rest', () => { ({ ...Math.rest } = { a: 1 }); });
refused('generator prototype', () => { Object.getPrototypeOf(function* () {}).x = 1; });
refused('Iterator.prototype constructor', () => { Object.getOwnPropertyDescriptor(Iterator.prototype, 'constructor').set.call(Math, 1); });
refused('Iterator.prototype toStringTag', () => { Object.getOwnPropertyDescriptor(Iterator.prototype, Symbol.toStringTag).set.call(parseInt, 1); });
refused('error stack', () => { Object.getOwnPropertyDescriptor(Error.prototype, 'stack').set.call(TypeError.prototype, 'x'); });
refused('Function constructor', () => { Function('Math.y = 1')(); });
refused('indirect eval', () => { (0, eval)('Math.y = 1'); });
refused('Atomics, Reflect, Intl-like namespaces', () => { Atomics.x = 1; });

// Bytes that VUs share: immutable, also for what looks like no assignment.
const bytes = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]).buffer.transferToImmutable();
function kept(name, f) {
  try { f(); } catch (e) {
    if (!(e instanceof TypeError) || !/immutable/.test(e.message)) throw new Error(`${name}: ${e}`);
    if (String(new Uint8Array(bytes)) !== '1,2,3,4,5,6,7,8') throw new Error(`${name}: changed`);
    return;
  }
  throw new Error(`${name}: not refused`);
}
for (const Kind of [Int8Array, Uint8Array, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array, BigUint64Array]) {
  const view = new Kind(bytes), one = typeof view[0] === 'bigint' ? 1n : 1;
  for (const op of ['store', 'add', 'sub', 'and', 'or', 'xor', 'exchange']) kept(`Atomics.${op}`, () => Atomics[op](view, 0, one));
  kept('Atomics.compareExchange', () => Atomics.compareExchange(view, 0, view[0], one));
  if (Atomics.load(view, 0) !== view[0]) throw new Error('Atomics.load');
}
for (const Kind of [Uint8ClampedArray, Int8Array, Uint8Array, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array, BigUint64Array, Float16Array, Float32Array, Float64Array]) {
  const view = new Kind(bytes), one = typeof view[0] === 'bigint' ? 1n : 1;
  kept('strict assignment', () => { 'use strict'; view[0] = one; });
  kept('strict assignment by a name', () => { 'use strict'; view['0'] = one; });
  kept('strict increment', () => { 'use strict'; view[0]++; });
  Function("view", "one", "view[0] = one")(view, one);
  if (Reflect.set(view, 0, one) || Reflect.defineProperty(view, 0, { value: one })) throw new Error('Reflect');
  kept('fill', () => view.fill(one));
  kept('set', () => view.set([one]));
  kept('reverse', () => view.reverse());
  kept('sort', () => view.sort());
  kept('copyWithin', () => view.copyWithin(0, 1));
}
kept('DataView', () => new DataView(bytes).setInt8(0, 1));
kept('setFromHex', () => new Uint8Array(bytes).setFromHex('00'));
kept('setFromBase64', () => new Uint8Array(bytes).setFromBase64('AAAA'));

// A silent failure where the language says so: not an object, not writable, not there.
Math.PI === 3.141592653589793 || fail();
try { Math.PI = 3; } catch (e) { if (message.test(e.message)) throw new Error('Math.PI is read only anyhow'); }
if (delete Math.notThere !== true) throw new Error('delete of what is not there');
if (Reflect.setPrototypeOf(Math, Object.prototype) !== true) throw new Error('same prototype');
Reflect.set(Object.prototype, '__proto__', null, {});
if (Object.isFrozen(Math)) throw new Error('frozen');

// Per VU instead of refused.
Error.stackTraceLimit = 3;
if (Error.stackTraceLimit !== 3) throw new Error('stackTraceLimit');
Error.prepareStackTrace = () => 'mine';
if (new Error().stack !== 'mine') throw new Error('prepareStackTrace');
Error.prepareStackTrace = undefined;
globalThis.own = 1;
if (own !== 1 || 'own' in Object.getPrototypeOf(globalThis)) throw new Error('globals');
globalThis.parseInt = () => 'shadowed';
if (parseInt('1') !== 'shadowed') throw new Error('shadowed global');
delete globalThis.parseInt;
if (parseInt('1') !== 1) throw new Error('unshadowed global');
(0, eval)('var viaEval = 1; let lexical = 2; const constant = 3; class C {}');
if (viaEval !== 1 || typeof lexical !== 'undefined') throw new Error('global scope');
globalThis.result = `${count} kinds`;
