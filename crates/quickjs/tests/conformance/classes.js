// Classes, with names that built-ins have as well.
class A { constructor(x) { this.x = x; } toString() { return `A(${this.x})`; } valueOf() { return this.x; } hasOwnProperty() { return 'mine'; } get constructor2() { return this.constructor; } }
eq(String(new A(1)), 'A(1)'); eq(new A(2) + 1, 3); eq(new A(1).hasOwnProperty('x'), 'mine'); eq(new A(1).constructor2, A);
class Arr extends Array { last() { return this[this.length - 1]; } get [Symbol.toStringTag]() { return 'Arr'; } }
const arr = Arr.from([1, 2, 3]); arr.push(4); arr[4] = 5;
eq(arr.last(), 5); eq(arr.length, 5); ok(arr.map(x => x * 2) instanceof Arr); eq(String(Object.prototype.toString.call(arr)), '[object Arr]');
ok(arr.filter(Boolean) instanceof Arr); eq([...arr.concat([6])], [1, 2, 3, 4, 5, 6]); arr.length = 2; eq([...arr], [1, 2]);
eq(Arr.of(7, 8).reverse().join(), '8,7'); arr.sort((a, b) => b - a); eq([...arr], [2, 1]); arr.name = 'n'; arr.constructor = Arr; eq(arr.name, 'n');
class Plain extends Array { static get [Symbol.species]() { return Array; } }
ok(!(new Plain(1, 2, 3).map(x => x) instanceof Plain)); eq(new Plain(3).length, 3);
class E1 extends Error { constructor(m, code) { super(m, { cause: 'c' }); this.name = 'E1'; this.code = code; this.message = m + '!'; } toString() { return `${this.name}:${this.code}`; } }
const e1 = new E1('m', 5); ok(e1 instanceof Error); eq(String(e1), 'E1:5'); eq(e1.message, 'm!'); eq(e1.cause, 'c'); ok(e1.stack.includes('<anonymous>') || e1.stack.length > 0);
class E2 extends TypeError { get name() { return 'E2'; } } eq(`${new E2('x')}`, 'E2: x'); E2.prototype.message = 'default'; eq(new E2().message, 'default');
class P extends Promise { static made = 0; constructor(f) { super(f); P.made++; } then(a, b) { this.thenned = true; return super.then(a, b); } }
const p = P.resolve(1); ok(p instanceof P); ok(p.then(x => x) instanceof P); ok(P.made >= 2); ok(p.thenned);
class M extends Map { get(k) { return super.get(k) ?? 'none'; } set(k, v) { return super.set(k, v + 1); } }
const m = new M([['a', 1]]); eq(m.get('a'), 2); eq(m.get('b'), 'none'); m.size2 = m.size; eq(m.size2, 1);
class S extends Set { add(v) { return super.add(String(v)); } } eq([...new S([1, 1, 2])], ['1', '2']);
class WM extends WeakMap {} const wk = {}; ok(new WM([[wk, 1]]).has(wk));
class D extends Date { toJSON() { return 'D'; } } eq(JSON.stringify({ d: new D(0) }), '{"d":"D"}'); { const d = new D(0); d.setTime(5); d.setFullYear(2001); eq(d.getFullYear(), 2001); }
class R extends RegExp { exec(s) { const r = super.exec(s); if (r) r.extra = 1; return r; } } eq(new R('a').exec('ba').extra, 1); ok(new R('b', 'g').test('abc'));
class F extends Function { constructor() { super('return this.v'); this.v = 1; } } eq(typeof new F(), 'function');
class Str extends String { at() { return 'at'; } } eq(new Str('abc').at(), 'at'); eq(new Str('abc').length, 3); eq(new Str('abc')[1], 'b');
class Num extends Number { get double() { return this * 2; } } eq(new Num(4).double, 8);
class Bool extends Boolean {} eq(new Bool(true).valueOf(), true);
class U8 extends Uint8Array { sum() { return this.reduce((a, b) => a + b, 0); } } { const u = U8.of(1, 2, 3); u[0] = 250; eq(u.sum(), 255); ok(u.subarray(1) instanceof U8); }
class Obj extends Object { constructor() { super(); this.a = 1; } } eq(new Obj().a, 1);
class Null extends null { static f() { return 1; } } eq(Null.f(), 1); eq(Object.getPrototypeOf(Null.prototype), null);
class Priv {
  #a = 1; static #count = 0; #b() { return this.#a; } get #c() { return this.#a * 10; } set #c(v) { this.#a = v; }
  static has(o) { return #a in o; } inc() { this.#a++; Priv.#count++; return this.#b(); } c(v) { this.#c = v; return this.#c; } static get count() { return Priv.#count; }
  static #s() { return 's'; } static s() { return this.#s(); } async #as() { return this.#a; } as() { return this.#as(); } *#gen() { yield this.#a; } gen() { return [...this.#gen()]; }
}
const pr = new Priv(); eq(pr.inc(), 2); eq(pr.c(4), 40); ok(Priv.has(pr)); ok(!Priv.has({})); eq(Priv.count, 1); eq(Priv.s(), 's'); eq(pr.gen(), [4]); throws(TypeError, () => Priv.prototype.inc.call({}));
class Stat { static a = 1; static b = Stat.a + 1; static { this.c = this.b + 1; } static name = 'own'; static length = 5; static toString() { return 'st'; } static ['comp' + 1] = 2; }
eq([Stat.a, Stat.b, Stat.c, Stat.name, Stat.length, String(Stat), Stat.comp1], [1, 2, 3, 'own', 5, 'st', 2]);
class Fields { x = 1; y = this.x + 1; ['z'] = 3; f = () => this.x; toString = () => 'field'; hasOwnProperty = null; static async = 1; get; set; static; }
const fl = new Fields(); eq([fl.x, fl.y, fl.z, fl.f(), String(fl), fl.hasOwnProperty, Object.keys(fl).length], [1, 2, 3, 1, 'field', null, 9]);
class Acc { static #v = 0; static get v() { return Acc.#v; } static set v(x) { Acc.#v = x; } get w() { return this._w; } set w(x) { this._w = x; } } Acc.v = 5; eq(Acc.v, 5); const ac = new Acc(); ac.w = 6; eq(ac.w, 6); throws(TypeError, () => { 'use strict'; Object.freeze(ac).w = 1; });
class Base { who() { return 'base'; } static make() { return new this(); } } class Derived extends Base { who() { return 'derived ' + super.who(); } } eq(Derived.make().who(), 'derived base');
Derived.prototype.constructor = Derived; Derived.prototype.toString = function () { return 'patched'; }; eq(String(new Derived()), 'patched');
Object.assign(Derived.prototype, { valueOf() { return 3; }, mixin: 1 }); eq(new Derived() + 1, 4); delete Derived.prototype.mixin; eq(new Derived().mixin, undefined);
Object.setPrototypeOf(Derived.prototype, { who() { return 'other'; } }); eq(new Derived().who(), 'derived other');
function Old(x) { if (!new.target) return new Old(x); this.x = x; } Old.prototype.get = function () { return this.x; }; Old.prototype = { constructor: Old, get() { return -this.x; }, toString() { return 'old'; } }; eq(Old(3).get(), -3); eq(`${new Old(1)}`, 'old'); Old.name2 = 1; Old.prototype.extra = 1; eq(new Old(1).extra, 1);
function Sub(x) { this.x = x; } Sub.prototype = Object.create(Old.prototype, { constructor: { value: Sub, writable: true } }); Sub.prototype.constructor = Sub; eq(new Sub(4).get(), -4);
const mixin = B => class extends B { mixed() { return 'mixed'; } }; eq(new (mixin(Array))(1, 2).mixed(), 'mixed'); ok(new (mixin(Map))() instanceof Map);
eq(class { static m() { return super.toString === Function.prototype.toString; } }.m(), true);
eq(Reflect.construct(Base, [], Derived) instanceof Derived, true);
const anon = class {}; eq(anon.name, 'anon'); eq((class Named {}).name, 'Named'); throws(TypeError, () => anon()); throws(ReferenceError, () => new (class extends Base { constructor() { this.x = 1; } })());
assertions;
