import http from 'k6/http';
const base = `http://${__ENV.TARGET}`;
const doc = JSON.stringify({ name: { first: 'Tom', last: 'Anderson' }, age: 37, children: ['Sara', 'Alex', 'Jack'], 'fav.movie': 'Deer Hunter', friends: [{ first: 'Dale', age: 44, nets: ['ig', 'fb'] }, { first: 'Roger', age: 68, nets: [] }, { first: 'Jane', age: 47 }], n: null, t: true, big: 12345678901234567890, f: 1.5e3, e: '', s: 'q"uo\\te ü' });
const sort = (v) => v && typeof v === 'object' && !Array.isArray(v) ? Object.fromEntries(Object.entries(v).sort()) : v;
export default function () {
  const r = http.post(`${base}/post`, doc, { headers: { 'Content-Type': 'application/json' } });
  for (const p of ['age', 'name.last', 'children', 'children.#', 'children.1', 'child*.2', 'c?ildren.0', 'fav\\.movie', 'friends.#.first', 'friends.1.last', 'friends.#(first=="Dale").age', 'friends.#(age>45)#.first', 'friends.#(nets.#(=="fb"))#.first', 'children|@reverse', 'name|@pretty', '{name.first,age}', '[age,name.last]', 'n', 't', 'big', 'f', 'e', 's', 'nope', 'name', 'children.@flatten', 'children.-1', 'friends.#', '@this|age', '', 'friends.#(age>1000).first', 'friends.#(first%"D*").first', 'name.@keys', 'name.@values', '..0'])
    { const v = r.json(`json.${p}`); console.log(p, '=>', v === undefined ? 'undefined' : JSON.stringify(sort(v))); }
  console.log(r.json().json.name.first, r.json() === r.json(), JSON.stringify(r.json('')), typeof r.json(undefined), typeof r.json(null));
  const bad = http.get(`${base}/html`);
  try { bad.json(); } catch (e) { console.log(String(e)); }
  console.log(bad.json('a.b'));
  const empty = http.get(`${base}/status/200`);
  try { console.log(empty.json()); } catch (e) { console.log(String(e)); }
}
