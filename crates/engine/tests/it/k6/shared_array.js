import { SharedArray } from 'k6/data';
let runs = 0;
const data = new SharedArray('users', function () { runs += 1; return [{ name: 'a', tags: ['x', 'y'], n: 1 }, { name: 'b' }, 'text', 5, null, [1, 2]]; });
const again = new SharedArray('users', () => { throw new Error('not called'); });
if (__VU === 0) for (const [name, make] of [['', () => []], ['n1', 5], ['n2', () => 5], ['n3', async () => []], ['n5', () => ({ length: 1 })], [undefined, () => []]]) {
  try { new SharedArray(name, make); console.log('fine'); } catch (e) { console.log(String(e)); }
}
if (__VU === 1) console.log(data.length, runs);
export default function () {
  console.log(again.length, data[0].name, data[0].tags[1], data[9], data['1'].name, typeof data[2], data[3], data[4]);
  console.log(data[0] === data[0], Object.isFrozen(data[0]), Object.isFrozen(data[0].tags));
  'use strict';
  for (const attempt of [() => { data[0] = 1; }, () => { data.length = 0; }, () => data.push(1), () => { data.extra = 1; }, () => { delete data[0]; }, () => data.sort(), () => { (function () { 'use strict'; data[0].name = 'z'; })(); }]) {
    try { attempt(); console.log('no error'); } catch (e) { console.log(e.name); }
  }
  console.log(data[0].name, data.length);
  const names = []; for (const item of data) names.push(typeof item);
  console.log(names.join());
  console.log(data.map((x) => typeof x).join(), data.filter((x) => x && x.name).length, data.find((x) => x.name === 'b').name, data.indexOf('text'), data.includes(5));
  console.log(data.slice(1, 3).length, data.concat([1]).length, data.some((x) => x === null), data.every(Boolean), data.reduce((n) => n + 1, 0));
  console.log(JSON.stringify(data));
  console.log(Object.keys(data).join(), 'length' in data, 0 in data, 99 in data, Array.isArray(data));
  console.log([...data.keys()].join(), [...data.entries()].length, [...data].length, data.at ? data.at(-1)[0] : 'none');
  let count = 0; data.forEach((v, i) => { count += i; }); console.log(count);
  for (const key in data) count += Number(key); console.log(count);
  try { new SharedArray('late', () => []); } catch (e) { console.log(String(e)); }
  console.log(String(data).length > 0, data instanceof SharedArray);
}
