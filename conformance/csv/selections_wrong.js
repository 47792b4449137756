// Options that contradict each other or the file.
// files: say.js table.csv
import csv from 'k6/experimental/csv';
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const all = [{ fromLine: 2, toLine: 2 }, { fromLine: 3, toLine: 1 }, { fromLine: 0, toLine: 0 }, { fromLine: -1 }, { toLine: -1 }, { fromLine: 99 }, { asObjects: true, skipFirstLine: true }, { asObjects: true, fromLine: 1 }, { fromLine: -1, asObjects: true }];
const results = [];
for (const options of all) {
  const file = await fs.open('table.csv');
  for (const [name, what] of [['parse', () => csv.parse(file, options)], ['Parser', () => new csv.Parser(file, options)]]) {
    try { what(); results.push([name, options, 'nothing']); } catch (error) { results.push([name, options, String(error)]); }
  }
}
export default function () { for (const [name, options, text] of results) note(`${name} ${JSON.stringify(options)}`, text); }
