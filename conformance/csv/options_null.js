// null is no options.
// files: say.js table.csv
import csv from 'k6/experimental/csv';
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const results = [];
for (const make of [(file) => csv.parse(file, null), (file) => new csv.Parser(file, null)]) {
  try { make(await fs.open('table.csv')); results.push('nothing'); } catch (error) { results.push(error.name); }
}
export default function () { note('errors', results); }
