// Random patterns on random texts: a search must find exactly what a sticky match tried at
// each index in turn finds (sticky patterns never take the scan). And the string searches
// against a naive comparison.
let state = 12345;
const rnd = n => { state = (state * 1103515245 + 12345) & 0x7fffffff; return (state >> 8) % n; };
const pick = a => a[rnd(a.length)];
const letters = ['a', 'b', 'c', 'A', 'B', '1', '2', ' ', '\n', '-', 'k', 's', 'é', 'ß', 'ÿ', 'µ'];
const wide = ['\u212a', '\u017f', 'ж', 'Ж', '日', '\u2028', '😀', '\ud800', '\udc00', '\u0178', '\u039c'];
const meta = c => c.replace(/[\n\u2028\\^$.*+?()[\]{}|\/-]/g, x => x === '\n' ? '\\n' : x === '\u2028' ? '\\u2028' : '\\' + x);
function charOf(unicode) {
  const c = rnd(6) ? pick(letters) : pick(wide);
  if (/[\ud800-\udfff]/.test(c) && c.length === 1) return '\\u' + c.charCodeAt(0).toString(16);
  return unicode && c === '-' ? '-' : meta(c);
}
function atom(depth, unicode) {
  switch (rnd(depth > 2 ? 9 : 15)) {
    case 0: case 1: case 2: case 3: return charOf(unicode);
    case 4: return '.';
    case 5: return pick(['\\d', '\\w', '\\s', '\\D', '\\W', '\\S', '\\b', '\\B', '^', '$', ...(unicode ? ['\\p{L}', '\\P{L}'] : [])]);
    case 6: return '[' + (rnd(3) ? '' : '^') + pick(['a-c', 'A-Z', '0-9', '\\s', '\\u0400-\\u04ff', 'k', 's\\u212a', '\\n', 'é-ÿ', '']) + pick(['', 'b', '1', '\\d', '\\W']) + ']';
    case 7: return charOf(unicode) + charOf(unicode) + charOf(unicode);
    case 8: return pick(['abc', 'ab', 'ka', 'ss', ' ', 'A1', '12']);
    case 9: case 10: return '(' + alternatives(depth + 1, unicode) + ')';
    case 11: return '(?:' + alternatives(depth + 1, unicode) + ')';
    case 12: return '(?' + pick(['=', '!', '<=', '<!']) + alternatives(depth + 1, unicode) + ')';
    case 13: return '(?i:' + alternatives(depth + 1, unicode) + ')';
    default: return '(' + charOf(unicode) + ')\\' + (1 + rnd(2));
  }
}
function term(depth, unicode) {
  let a = atom(depth, unicode);
  if (rnd(3) || /^(\\[bB]|\^|\$|\(\?[<=!])/.test(a)) return a;
  if (!/^(\\.|\.|\[.*\]|\(.*\)|.)$/s.test(a)) a = `(?:${a})`;
  return a + pick(['*', '+', '?', '{2}', '{1,3}', '{0,2}', '{0}']) + (rnd(3) ? '' : '?');
}
function alternative(depth, unicode) { let s = ''; for (let i = 1 + rnd(3); i > 0; i--) s += term(depth, unicode); return s; }
function alternatives(depth, unicode) { let s = alternative(depth, unicode); while (rnd(4) === 0) s += '|' + (rnd(8) ? alternative(depth, unicode) : ''); return s; }
function text(n, w) { let s = ''; for (let i = 0; i < n; i++) s += w && rnd(4) === 0 ? pick(wide) : rnd(8) ? pick(letters) : pick(['abc', 'aaaa', 'ka', 'ss', '12']); return s; }

function describe(m) { return m && JSON.stringify([m.index, ...m]); }
function expected(source, flags, s, from) {
  const sticky = new RegExp(source, flags + 'y');
  const unicode = flags.includes('u') || flags.includes('v');
  // As [[Exec]] does, a start inside of a surrogate pair moves back to its first half.
  const inPair = i => unicode && i > 0 && i < s.length && /^[\udc00-\udfff]$/.test(s[i]) && /^[\ud800-\udbff]$/.test(s[i - 1]);
  if (inPair(from)) from--;
  for (let i = from; i <= s.length; i++) {
    if (i > from && inPair(i)) continue;
    sticky.lastIndex = i;
    const m = sticky.exec(s);
    if (m) return m;
  }
  return null;
}
let patterns = 0, matches = 0, cases = 0;
for (let i = 0; i < ROUNDS; i++) {
  const unicode = rnd(3) === 0;
  const flags = (rnd(3) ? '' : 'i') + (rnd(3) ? '' : 'm') + (rnd(4) ? '' : 's') + (unicode ? 'u' : '');
  const source = alternatives(0, unicode);
  let g;
  try { g = new RegExp(source, flags + 'g'); } catch { continue; }
  patterns++;
  for (let k = 0; k < 4; k++) {
    const s = k === 3 ? text(3, false) + 'z'.repeat(rnd(100)) + text(4, rnd(2)) : text(rnd(40), k === 1);
    const from = k < 2 ? 0 : rnd(s.length + 1);
    g.lastIndex = from;
    const found = g.exec(s), want = expected(source, flags, s, from);
    cases++;
    if (found) matches++;
    if (describe(found) !== describe(want)) throw new Error(`/${source}/${flags} on ${JSON.stringify(s)} from ${from}: ${describe(found)}, not ${describe(want)}`);
    if (found && g.lastIndex !== found.index + found[0].length) throw new Error('lastIndex');
  }
}

const naive = (s, t, from, step) => { for (let i = from; i >= 0 && i + t.length <= s.length; i += step) { let j = 0; while (j < t.length && s.charCodeAt(i + j) === t.charCodeAt(j)) j++; if (j === t.length) return i; } return -1; };
let searches = 0;
for (let i = 0; i < ROUNDS; i++) {
  const s = text(rnd(60), rnd(2)), at = rnd(s.length + 1);
  const t = rnd(3) ? s.slice(at, at + rnd(5)) : text(rnd(4), rnd(2));
  const from = rnd(s.length + 3) - 1;
  const start = Math.min(Math.max(from, 0), s.length), back = Math.min(start, s.length - t.length);
  const forward = naive(s, t, start, 1), backward = naive(s, t, back, -1), first = naive(s, t, 0, 1);
  const check = (what, a, b) => { searches++; if (a !== b) throw new Error(`${what} of ${JSON.stringify(t)} in ${JSON.stringify(s)} from ${from}: ${a}, not ${b}`); };
  check('indexOf', s.indexOf(t, from), forward);
  check('includes', s.includes(t, from), forward >= 0);
  check('lastIndexOf', s.lastIndexOf(t, from), backward);
  check('lastIndexOf', s.lastIndexOf(t), naive(s, t, s.length - t.length, -1));
  check('startsWith', s.startsWith(t, from), s.slice(start, start + t.length) === t);
  check('endsWith', s.endsWith(t), t.length <= s.length && s.slice(s.length - t.length) === t);
  check('replace', s.replace(t, () => '#'), first < 0 ? s : s.slice(0, first) + '#' + s.slice(first + t.length));
  if (t) { let parts = [], p = 0, q; while ((q = naive(s, t, p, 1)) >= 0) { parts.push(s.slice(p, q)); p = q + t.length; } parts.push(s.slice(p)); check('split', JSON.stringify(s.split(t)), JSON.stringify(parts)); check('replaceAll', s.replaceAll(t, () => '#'), parts.join('#')); }
}
globalThis.result = `${patterns} patterns, ${cases} cases, ${matches} matches, ${searches} string searches`;
