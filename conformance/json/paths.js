// Selectors of Response.json(): GJSON paths of every kind.
import http from 'k6/http';
import { check } from 'k6';

const doc = `{
  "name": {"first": "Tom", "last": "Anderson"},
  "age": 37,
  "children": ["Sara", "Alex", "Jack"],
  "fav.movie": "Deer Hunter",
  "friends": [
    {"first": "Dale", "last": "Murphy", "age": 44, "nets": ["ig", "fb", "tw"]},
    {"first": "Roger", "last": "Craig", "age": 68, "nets": ["fb", "tw"]},
    {"first": "Jane", "last": "Murphy", "age": 47, "nets": ["ig", "tw"]}
  ],
  "vals": [1, 66, {"test": 3}, null, true, false, -1.5, 1e3, "x"],
  "nested": [[1, 2, [3, 4]], [5], []],
  "empty": {}, "none": [], "nil": null, "yes": true, "no": false, "zero": 0, "text": "",
  "quote": "a \\"b\\" \\\\ c", "unicode": "\\u00e9\\ud83d\\ude00", "big": 12345678901234567890, "float": 1.25e-3,
  "a*b": "star", "a?b": "question", "a|b": "pipe", "a#b": "hash", "@this": "at", "!lit": "bang", "{x}": "brace",
  "1": "one", "deep": {"a": {"b": {"c": {"d": [10, {"e": "f"}]}}}},
  "json": "{\\"in\\":[1,2]}", "mixed": [{"a": 1}, {"b": 2}, {"a": 3, "b": null}, "s", 4],
  "matrix": {"rows": [{"cells": [{"v": 1}, {"v": 2}]}, {"cells": [{"v": 3}]}]}
}`;

const paths = [
  'name', 'name.first', 'name.last', 'name.none', 'age', 'age.x', 'children', 'children.0', 'children.1', 'children.3',
  'children.-1', 'children.#', 'children.#.x', 'child*.2', 'c?ildren.0', '*', '*.first', 'name.f*', 'name.?ast', 'nothing', '',
  '.', '..', '.age', 'age.', 'name..first', 'fav\\.movie', 'fav.movie', 'a\\*b', 'a*b', 'a\\?b', 'a\\|b', 'a|b', 'a\\#b', 'a#b',
  '\\@this', '\\!lit', '\\{x\\}', '1', 'friends', 'friends.#', 'friends.#.first', 'friends.#.none', 'friends.1',
  'friends.1.last', 'friends.1.nets.0', 'friends.#.nets', 'friends.#.nets.0', 'friends.#.nets.#', 'friends.0.first|@this',
  'friends.#(last=="Murphy").first', 'friends.#(last=="Murphy")#.first', 'friends.#(last=="Murphy")', 'friends.#(last=="Murphy")#',
  'friends.#(last="Murphy").first', 'friends.#(last!="Murphy").first', 'friends.#(age>45)#.last', 'friends.#(age>=47)#.age',
  'friends.#(age<45).first', 'friends.#(age<=44)#.first', 'friends.#(first%"D*").last', 'friends.#(first!%"D*")#.first',
  'friends.#(first%"?ane")#.age', 'friends.#(nets.#(=="fb"))#.first', 'friends.#(nets.#(=="none"))#.first', 'friends.#(age)#.first',
  'friends.#(none)#.first', 'friends.#(age==44)#|#', 'friends.#(last=="Murphy")#|0', 'friends.#(last=="Murphy")#.0', 'friends.#(',
  'friends.#(last', 'friends.#()', 'friends.#()#', 'friends.#(first=="Dale"', 'friends.#(first=="Dale")x', 'friends|1|first',
  'friends|#', 'friends|#.first', 'friends.#|first', 'friends|@reverse|0.first', 'friends.@reverse.0.first', 'children|@reverse',
  'children.@reverse', 'name.@reverse', 'age.@reverse', 'children.@this', '@this', '@this.age', '@this|age', '@ugly', 'name.@ugly',
  'name|@pretty', 'name.@pretty:{"sortKeys":true}', '@valid|age', 'json.@valid', 'name.@keys', 'name.@values', '@keys', 'age.@keys',
  'children.@keys', 'children.@values', 'empty.@keys', 'none.@keys', 'nothing.@keys', 'nested.@flatten', 'nested|@flatten:{"deep":true}',
  'nested.@flatten|#', 'age.@flatten', 'json.@fromstr', 'json.@fromstr.in.1', 'age.@tostr', 'name.@tostr', 'name.@tostr|@fromstr|first',
  'mixed.@join', 'friends.@join', 'friends.@group', '{"first":["a","b"],"age":[1,2]}.@group', 'matrix.rows.@join', 'name.@nothing', '@nothing',
  'children.@reverse:{"x":1}', '@dig', '@this.@dig:first', '..@dig:e', '@dig:e', '@dig:v', '[name.first,age]', '{name.first,age}',
  '{"n":name.first,"a":age}', '{"n":name.first,age}|a', '[name.first,none,age]', '{none}', '[none]', '[]', '{}', 'name.[first,last]',
  'name.{first,last}', 'name.{"f":first}', 'friends.#.{first,age}', 'friends.#.[first,age]', 'friends.#.{"n":first}|1.n',
  'friends.{#,"l":0.last}', '[name,children.@reverse]', '{"x":!"lit"}', '{"x":!true,"y":!1.5}', '!"hello"', '!true', '!{"a":1}.a',
  '["a",age]', '{age', '[age', '[age]x', '{age}.age', '[age].0', '[age]|0', '[[age],age]', '{"a":{"b":age}}', 'vals', 'vals.#', 'vals.2.test', 'vals.3', 'vals.4',
  'vals.5', 'vals.6', 'vals.7', 'vals.8', 'vals.9', 'vals.#.test', 'vals.#(>50)', 'vals.#(>50)#', 'vals.#(==true)', 'vals.#(==null)', 'vals.#(==null)#',
  'vals.#(=="x")', 'vals.#(!="x")#', 'vals.#(==~true)#', 'vals.#(==~false)#', 'vals.#(==~null)#', 'vals.#(==~*)#', 'vals.#(test==3)', 'vals.#(test)#', 'nested.0', 'nested.0.2.1',
  'nested.#', 'nested.#.#', 'nested.#.0', 'nested.0.#', 'nested.2', 'nested.#(#>1)', 'nested.#(0==5)', 'empty', 'none', 'nil', 'nil.x', 'yes', 'no', 'zero', 'text', 'quote',
  'unicode', 'big', 'float', 'deep.a.b.c.d.1.e', 'deep.*.*.*.d.0', 'deep.a.b.c.d.#', 'deep|a|b|c|d|1|e', 'deep.a|b.c|d.0', 'mixed.#.a', 'mixed.#.b',
  'mixed.#(a)#', 'mixed.#(a==1)', 'mixed.#(b==null)#', 'mixed.#(a>1)#.a', 'matrix.rows.#.cells.#.v', 'matrix.rows.#.cells.0.v', 'matrix.rows.#.cells.#.v|@flatten',
  'matrix.rows.#.cells|@flatten|#.v', 'matrix.rows.#(cells.#(v==3)).cells.0.v', 'matrix.rows.0.cells.#(v>1)#.v', 'name.first.x', 'children.0.x', 'children.x', 'children.00',
  'children.1e0', 'friends.01.first', 'NAME', 'name\\.first', '\\name', 'na\\me', 'name.fir\\st', 'é', 'friends.#.first.0', 'friends.#.first|0', 'friends.#.nets|0', 'friends.#.nets.@flatten',
  'friends.#.age|@reverse', 'friends.#(first=="Dale").nets.#(=="fb")', 'friends.#(nets.0=="fb").first', 'friends.#(nets.#>2).first', 'friends.#(first=="Da\\"le")', 'friends.#(last==Murphy)#.first',
  'friends.#( last == "Murphy" )#.first', 'friends.#(age == 47).first', 'friends.#(age>"45")#.first', 'friends.#(first>"E")#.first', 'friends.#(first<"E")#.first', 'friends.#(nets)#|#',
  'friends.#(name.x)#', 'friends.#.#(age>1)', 'friends.#.nets.#(=="ig")', 'friends.#.nets.#(%"?g")#', 'friends.#.{first,"n":nets.#}', '#', '#.x', '0', '*|0', '?', '*.*', '*|*',
];

// k6's objects have their keys in any order.
const sorted = (value) => {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
};

export default function () {
  const res = http.get(`${__ENV.BASE_URL}/respond?body=${encodeURIComponent(doc)}`, { tags: { name: 'doc' } });
  const one = (path) => {
    try {
      const value = res.json(path);
      return value === undefined ? 'undefined' : JSON.stringify(sorted(value));
    } catch (e) {
      return `threw ${e}`;
    }
  };
  for (const path of paths) {
    check(0, { [`${path} is ${one(path)}`]: () => true });
  }
}
