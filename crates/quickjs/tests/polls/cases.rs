//! Built-ins that work long: (what, how its input is made, the call, what of the result is looked at). `N` is the size.

pub struct Case {
    pub what: &'static str,
    pub make: &'static str,
    pub call: &'static str,
    pub look: &'static str,
}

const fn case(what: &'static str, make: &'static str, call: &'static str, look: &'static str) -> Case {
    Case { what, make, call, look }
}

const LIST: &str = "a = Array.from({ length: N }, (_, i) => (i * 7919) % N)";
const HOLES: &str = "a = []; for (let i = 0; i < N; i += 2) a[i] = i; a.length = N";
const LIKE: &str = "a = { length: N, 0: 1, 5: 2 }";
const TEXT: &str = "s = 'ab cd,'.repeat(N / 6)";
const WIDE: &str = "s = 'a\u{142}b\u{e9}'.repeat(N / 4)";
const DOUBLES: &str = "a = new Float64Array(N).map((_, i) => (i * 7919) % N)";
const KEYS: &str = "a = {}; for (let i = 0; i < N; i++) a['k' + i] = i";

const FIRST: &str =
    "a = {}; for (let i = 0; i < N; i++) a['k' + i] = i; var first = () => { for (const key in a) return key; }";
const INHERITED: &str = "p = {}; for (let i = 0; i < N; i++) p['k' + i] = i; a = Object.create(p); \
                         var first = () => { for (const key in a) return key; }";

pub const CASES: &[Case] = &[
    // Array-likes.
    case("unshift", LIKE, "Array.prototype.unshift.call(a, 9)", "r"),
    case("reverse", LIKE, "Array.prototype.reverse.call(a)", "Object.keys(r)"),
    case("concat", "a = { length: N, [Symbol.isConcatSpreadable]: true }", "[].concat(a)", "r.length"),
    case("slice", LIKE, "Array.prototype.slice.call(a)", "r.length"),
    case("splice", LIKE, "Array.prototype.splice.call(a, 1, 1)", "a.length"),
    case("flat", "a = []; a.length = N", "a.flat()", "r.length"),
    case("indexOf", LIKE, "Array.prototype.indexOf.call(a, 7)", "r"),
    case("lastIndexOf", LIKE, "Array.prototype.lastIndexOf.call(a, 7)", "r"),
    case("includes", LIKE, "Array.prototype.includes.call(a, 7)", "r"),
    case("fill", LIKE, "Array.prototype.fill.call(a, 7)", "r[N - 1]"),
    case("copyWithin", LIKE, "Array.prototype.copyWithin.call(a, 1, 0)", "r[1]"),
    case("join", LIKE, "Array.prototype.join.call(a, '-')", "r.length"),
    case("toString", "a = new Array(N)", "a.toString()", "r.length"),
    case("shift", LIKE, "Array.prototype.shift.call(a)", "r"),
    case("with", LIKE, "Array.prototype.with.call(a, 1, 1)", "r.length"),
    case("toSpliced", LIKE, "Array.prototype.toSpliced.call(a, 1, 1)", "r.length"),
    case("toReversed", LIKE, "Array.prototype.toReversed.call(a)", "r.length"),
    case("toSorted", LIKE, "Array.prototype.toSorted.call(a)", "r.length"),
    case("sort of holes", LIKE, "Array.prototype.sort.call(a)", "Object.keys(r)"),
    case("Array.from", LIKE, "Array.from(a)", "r.length"),
    case("String.raw", "a = { raw: { length: N } }", "String.raw(a)", "r.length"),
    case("JSON.stringify of holes", "a = new Array(N)", "JSON.stringify(a)", "r.length"),
    // Arrays.
    case("sort", LIST, "a.sort()", "r.slice(0, 5)"),
    case("sort with a built-in comparator", LIST, "a.sort(Math.min)", "r.length"),
    case("indexOf in an array", LIST, "a.indexOf(-1)", "r"),
    case("lastIndexOf in an array", LIST, "a.lastIndexOf(-1)", "r"),
    case("includes in an array", LIST, "a.includes(-1)", "r"),
    case("reverse of an array", LIST, "a.reverse()", "r.slice(0, 5)"),
    case("slice of an array", LIST, "a.slice(1)", "r.slice(0, 5)"),
    case("splice of an array", LIST, "a.splice(1, 1)", "a.slice(0, 5)"),
    case("copyWithin of an array", LIST, "a.copyWithin(1, 0)", "a.slice(0, 5)"),
    case("concat of arrays", LIST, "a.concat(a)", "r.length"),
    case("descriptors of an array", LIST, "Object.getOwnPropertyDescriptors(a)", "r[9].value"),
    case("descriptors of a typed array", DOUBLES, "Object.getOwnPropertyDescriptors(a)", "r[9].value"),
    case("keys of a proxy of an array", LIST, "Object.entries(new Proxy(a, {}))", "r.length"),
    case("keys of holes", HOLES, "Object.keys(a)", "r.length"),
    case("freezing holes", HOLES, "Object.isFrozen(Object.freeze(a))", "r"),
    case("spread of an array", LIST, "[...a]", "r.length"),
    case("an array turned into properties", LIST, "Object.defineProperty(a, 3, { get: () => 1 })", "r[3]"),
    case("freeze", LIST, "Object.freeze(a)", "r.length"),
    case("Array.of keys", LIST, "Object.keys(a)", "r.length"),
    // Objects.
    case("keys", KEYS, "Object.keys(a)", "r.length"),
    case("entries", KEYS, "Object.entries(a)", "r.length"),
    case("assign", KEYS, "Object.assign({}, a)", "r.k9"),
    case("for…in", FIRST, "first()", "r"),
    case("for…in of inherited names", INHERITED, "first()", "r"),
    case("spread", KEYS, "({ ...a })", "r.k9"),
    case("fromEntries", LIST, "Object.fromEntries(a.entries())", "r[9]"),
    case("getOwnPropertyDescriptors", KEYS, "Object.getOwnPropertyDescriptors(a)", "r.k9.value"),
    // JSON.
    case("JSON.parse of numbers", "s = '[' + '1,'.repeat(N) + '1]'", "JSON.parse(s)", "r.length"),
    case("JSON.parse of blanks", "s = '[' + '  1,'.repeat(N) + '1]'", "JSON.parse(s)", "r.length"),
    case("JSON.parse of objects", "s = '[' + '{\"a\":[]},'.repeat(N / 4) + '1]'", "JSON.parse(s)", "r.length"),
    case("JSON.parse of a text", "s = '\"' + 'x'.repeat(N << 6) + '\"'", "JSON.parse(s)", "r.length"),
    case("JSON.parse of escapes", "s = '\"' + '\\\\n'.repeat(N) + '\"'", "JSON.parse(s)", "r.length"),
    case("JSON.stringify", LIST, "JSON.stringify(a)", "r.length"),
    case("JSON.stringify of an object", KEYS, "JSON.stringify(a)", "r.length"),
    case("JSON.stringify of a text", "s = '\"'.repeat(N)", "JSON.stringify(s)", "r.length"),
    // Texts.
    case("repeat", "s = 'ab'", "s.repeat(N)", "r.length"),
    case("repeat of a character", "s = 'a'", "s.repeat(N)", "r.length"),
    case("padStart", "s = 'a'", "s.padStart(N, 'xy')", "r.length"),
    case("padEnd", "s = 'a'", "s.padEnd(N)", "r.length"),
    case("split", TEXT, "s.split(',')", "r.length"),
    case("split into characters", TEXT, "s.split('')", "r.length"),
    case("split by a pattern", TEXT, "s.split(/,/)", "r.length"),
    case("replaceAll", TEXT, "s.replaceAll(',', ';')", "r.length"),
    case("replace of a pattern", TEXT, "s.replace(/[ac]/g, '<$&>')", "r.length"),
    case("deleting a pattern", TEXT, "s.replace(/[ac]/g, '')", "r.length"),
    case("match", TEXT, "s.match(/[ac]/g)", "r.length"),
    case("matchAll", TEXT, "[...s.matchAll(/[ac]/g)]", "r.length"),
    case("toUpperCase", TEXT, "s.toUpperCase()", "r.length"),
    case("toLowerCase of wide text", WIDE, "s.toLowerCase()", "r.length"),
    case("normalize", WIDE, "s.normalize('NFD')", "r.length"),
    case(
        "normalize of one long run",
        "s = 'a' + '\\u0301'.repeat(N / 2) + '\\u0323'.repeat(N / 2)",
        "s.normalize('NFD')",
        "r.length + r[1]",
    ),
    case("localeCompare", WIDE, "s.localeCompare(s)", "r"),
    case("encodeURIComponent", WIDE, "encodeURIComponent(s)", "r.length"),
    case("decodeURIComponent", "s = '%41'.repeat(N)", "decodeURIComponent(s)", "r.length"),
    case("escape", WIDE, "escape(s)", "r.length"),
    case("unescape", "s = '%41'.repeat(N)", "unescape(s)", "r.length"),
    case("spread of a text", TEXT, "[...s]", "r.length"),
    case("indexOf in a long text", "s = 'ab'.repeat(N << 6)", "s.indexOf('abc')", "r"),
    case("lastIndexOf in a text", TEXT, "s.lastIndexOf('ab cd;')", "r"),
    case("indexOf in wide text", WIDE, "s.indexOf('a\u{142}c')", "r"),
    case("lastIndexOf in wide text", WIDE, "s.lastIndexOf('bc')", "r"),
    case("includes in wide text", WIDE, "s.includes('a\u{142}c')", "r"),
    case("replaceAll in wide text", WIDE, "s.replaceAll('\u{142}b', '-')", "r.length"),
    case("split of wide text", WIDE, "s.split('\u{142}b')", "r.length"),
    case("startsWith in wide text", WIDE, "s.startsWith(s)", "r"),
    case("isWellFormed", "s = '\u{142}'.repeat(N)", "s.isWellFormed()", "r"),
    case("toWellFormed", "s = '\u{142}'.repeat(N)", "s.toWellFormed()", "r.length"),
    case("trim", "s = ' '.repeat(N)", "s.trim()", "r.length"),
    // Typed arrays.
    case("typed sort", DOUBLES, "a.sort()", "r.slice(0, 5)"),
    case("typed sort with a comparator", DOUBLES, "a.sort(Math.min)", "r.length"),
    case("typed fill", DOUBLES, "a.fill(3)", "r[N - 1]"),
    case("typed indexOf", DOUBLES, "a.indexOf(-1)", "r"),
    case("typed includes", DOUBLES, "a.includes(NaN)", "r"),
    case("typed reverse", DOUBLES, "a.reverse()", "r.slice(0, 5)"),
    case("typed join", DOUBLES, "a.join()", "r.length"),
    case("typed set", LIST, "new Float64Array(N).set(a)", "r"),
    case("typed from an array", LIST, "new Float64Array(a)", "r.length"),
    case("typed from another", DOUBLES, "new Float32Array(a)", "r.length"),
    // Maps and sets.
    case("new Map", LIST, "new Map(a.map((v) => [v, v]))", "r.size"),
    case("new Set", LIST, "new Set(a)", "r.size"),
    case("union", "a = new Set(Array(N).keys())", "a.union(new Set([-1]))", "r.size"),
    case("intersection", "a = new Set(Array(N).keys())", "a.intersection(a)", "r.size"),
    case("isSubsetOf", "a = new Set(Array(N).keys())", "a.isSubsetOf(a)", "r"),
    case("Map.clear", "a = new Map(Array(N).entries())", "a.clear()", "a.size"),
    case("groupBy", LIST, "Object.groupBy(a, Math.sign)", "r[1].length"),
    // Big integers: the work is quadratic.
    case("BigInt to text", "a = 3n ** BigInt(N >> 2)", "a.toString()", "r.length"),
    case("BigInt from text", "s = '9'.repeat(N >> 2)", "BigInt(s)", "r > 1n"),
    case("BigInt power", "a = 3n", "a ** BigInt(N)", "r > 1n"),
    case("BigInt product", "a = 1n << BigInt(N)", "a * a", "r > 1n"),
    case("BigInt quotient", "a = (1n << BigInt(2 * N)) - 1n; b = (1n << BigInt(N)) - 1n", "a / b", "r > 1n"),
    // Iterators and proxies.
    case("Iterator.toArray", LIST, "a.values().toArray()", "r.length"),
    case("Iterator.drop", LIST, "a.values().drop(N - 1).next()", "r.done"),
    case(
        "keys of a proxy",
        "a = new Proxy({}, { ownKeys: () => Array.from({ length: N >> 6 }, (_, i) => 'k' + i) })",
        "Reflect.ownKeys(a)",
        "r.length",
    ),
    // Compilers and matchers.
    case("eval", "s = 'x;'.repeat(N); var x = 1", "(0, eval)(s)", "r"),
    case("new RegExp", "s = 'ab'.repeat(N)", "new RegExp(s)", "r.source.length"),
    case(
        "a class of many characters",
        "s = '['; for (let i = 0; i < N >> 6; i++) s += String.fromCharCode(256 + 2 * i); s += ']'",
        "new RegExp(s)",
        "r.source.length",
    ),
    case("a back reference", "s = 'a'.repeat(N >> 5)", "/^(a+)\\1c/.test(s)", "r"),
    case("a backtracking pattern", "s = 'a'.repeat(Math.log2(N) + 7)", "/^(a+)+$/.test(s + 'b')", "r"),
    // What is freed at once.
    case("freeing a list", "a = []; for (let i = 0; i < N; i++) a.push([i])", "a = null", "r"),
    case("freeing a chain", "a = null; for (let i = 0; i < N; i++) a = { a }", "a = null", "r"),
    case("freeing a map", "a = new Map(Array(N).entries())", "a = null", "r"),
];

impl Case {
    /// Makes the input; `N` is defined before.
    pub fn input(&self) -> String {
        format!("var a, b, s, r; {};", self.make)
    }

    /// The call, and a loop after it whose polls can still cut what the call itself could not.
    pub fn work(&self) -> String {
        format!("r = ({}); for (let i = 0; i < 4; i++); String({})", self.call, self.look)
    }
}
