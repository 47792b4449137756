// What a Parser is not made of.
// files: say.js table.csv
import csv from 'k6/experimental/csv';
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const results = [];
const tries = [[], [null], [{}], [5], [1.5], ['table.csv'], ['é'], [true], [[]]];
for (const [value] of tries) {
  try { new csv.Parser(value); results.push('nothing'); } catch (error) { results.push(String(error)); }
}
for (const value of [{}, 5, 'table.csv', []]) {
  try { csv.parse(value); results.push('nothing'); } catch (error) { results.push(String(error)); }
}
const file = await fs.open('table.csv');
export default async function () {
  results.forEach((text, i) => note(`try ${i}`, text));
  await say('in a VU', () => new csv.Parser(file));
  await say('nothing in a VU', () => new csv.Parser());
}
