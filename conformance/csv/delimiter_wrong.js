// What cannot separate fields.
// files: say.js table.csv
import csv from 'k6/experimental/csv';
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const results = [];
for (const delimiter of [',,', 'é', null, undefined]) {
  const file = await fs.open('table.csv');
  for (const make of [() => csv.parse(file, { delimiter }), () => new csv.Parser(file, { delimiter })]) {
    try { make(); results.push([String(delimiter), 'nothing']); } catch (error) { results.push([String(delimiter), String(error)]); }
  }
}
for (const delimiter of ['"', '\n', '\r']) {
  results.push([JSON.stringify(delimiter), await csv.parse(await fs.open('table.csv'), { delimiter }).catch(String)]);
  results.push([JSON.stringify(delimiter), await new csv.Parser(await fs.open('table.csv'), { delimiter }).next().catch(String)]);
}
export default function () { for (const [name, text] of results) note(name, text); }
