import { check } from 'k6';
export default function () {
  console.log(check(1, { 'is one': (v) => v === 1, 'plain truth': true, 'plain text': 'x', 'empty text': '', zero: 0, nan: NaN, nothing: null }));
  console.log(check(null, {}));
  console.log(check(5, { a: (v) => v > 1 }, { color: 'red', n: 7, b: true }));
  console.log(check('x', { b: () => true, c: () => 'yes', d: () => [], e: () => ({}) }));
  try { check(1); } catch (e) { console.log(String(e)); }
  try { check(1, null); } catch (e) { console.log(e instanceof Error); }
  try { check(1, { 'a::b': true }); } catch (e) { console.log(String(e)); }
  try { check(1, { 'async': async () => true }); } catch (e) { console.log(String(e).slice(0, 70)); }
  try { check(1, { first: () => true, throws: () => { throw new TypeError('inside'); }, never: () => console.log('not run') }); } catch (e) { console.log(e.name, e.message); }
  try { check(1, { a: true }, { bad: {} }); } catch (e) { console.log('tags', String(e)); }
  console.log(check(1, ['x', '', 1]));
}
export function handleSummary(data) {
  const flat = data.root_group.checks.map((c) => `${c.name}:${c.passes}/${c.fails}`);
  console.log(flat.join(' '));
  console.log(data.metrics.checks.values.passes, data.metrics.checks.values.fails);
  return {};
}
