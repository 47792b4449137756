// Put before each file of this folder; a file ends with the number of its assertions.
let assertions = 0;
function show(v) {
  if (typeof v === 'string') return JSON.stringify(v);
  if (Array.isArray(v)) return '[' + v.map(show).join(', ') + ']';
  if (v && typeof v === 'object' && !(v instanceof Error)) { try { return JSON.stringify(v) ?? String(v); } catch { return '[object]'; } }
  return Object.is(v, -0) ? '-0' : String(v);
}
function same(a, b) {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((x, i) => same(x, b[i]));
  if (a && b && typeof a === 'object' && typeof b === 'object' && Object.getPrototypeOf(a) === Object.getPrototypeOf(b) && !Array.isArray(a)) {
    const ka = Reflect.ownKeys(a), kb = Reflect.ownKeys(b);
    return ka.length === kb.length && ka.every(k => kb.includes(k) && same(a[k], b[k]));
  }
  return false;
}
function eq(actual, expected, what = '') {
  assertions++;
  if (!same(actual, expected)) throw new Error(`${what} is ${show(actual)}, not ${show(expected)}`);
}
function ok(value, what = '') { eq(!!value, true, what); }
function throws(type, f, what = '') {
  assertions++;
  try { f(); } catch (e) {
    if (!(e instanceof type)) throw new Error(`${what} throws ${e}, not ${type.name}`);
    if (/shared built-in/.test(e.message)) throw new Error(`${what} hits a write trap: ${e.message}`);
    return e;
  }
  throw new Error(`${what} does not throw`);
}
