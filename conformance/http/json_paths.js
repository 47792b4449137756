// Paths of Response.json().
import http from 'k6/http';
import { check } from 'k6';
const data = {
  name: { first: 'Tom', last: 'Anderson' }, age: 37, children: ['Sara', 'Alex', 'Jack'], 'fav.movie': 'Deer Hunter', none: null, empty: [], deep: { a: [{ b: [1, 2] }, { b: [3] }] },
  friends: [{ first: 'Dale', last: 'Murphy', age: 44, nets: ['ig', 'fb'] }, { first: 'Roger', last: 'Craig', age: 68, nets: ['fb'] }, { first: 'Jane', last: 'Murphy', age: 47, nets: [] }],
};
const sorted = (value) => {
  if (Array.isArray(value)) return value.map(sorted);
  return value && typeof value === 'object' ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])])) : value;
};
export default function () {
  const r = http.post(`${__ENV.BASE_URL}/post`, JSON.stringify(data));
  for (const path of [
    'name.last', 'age', 'children', 'children.#', 'children.1', 'child*.2', 'c?ildren.0', 'fav\\.movie', 'friends.#.first', 'friends.1.last', 'friends.#(last=="Murphy").first', 'friends.#(last=="Murphy")#.first', 'friends.#(age>45)#.last',
    'friends.#(first%"D*").last', 'friends.#(first!%"D*").last', 'friends.#(nets.#(=="fb"))#.first', 'none', 'empty', 'empty.0', 'gone', 'gone.deeper', 'children.9', 'children.-1', 'deep.a.#.b', 'deep.a.#.b.#', '', '@this.age', 'children|@reverse', 'children.@reverse.0',
    'name.@keys', 'name.@values', '{age,"n":name.first}', '[age,name.first]', 'friends.#.{first,age}', 'deep.a.#.b|@flatten', 'age|@this', 'name.first.x', '#', 'friends.#(age>100)', 'friends.#(age>100)#', 'children.#(=="Alex")', '@pretty:{"a":1}.age', 'friends.0.nets.1', 'name.@tostr', '@valid.age', '!"literal"', 'children.@join',
  ]) {
    let value;
    try { value = r.json(path === '' ? 'json' : `json.${path}`); } catch (error) { value = error.message; }
    check(1, { [`${path} ${JSON.stringify(sorted(value))}`]: true });
  }
}
