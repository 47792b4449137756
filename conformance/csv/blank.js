// Nothing but empty lines.
// files: say.js blank.csv
import csv from 'k6/experimental/csv';
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const sorted = (row) => (Array.isArray(row) ? row : Object.keys(row).sort().map((key) => `${key}=${row[key]}`));
const results = [];
for (const options of [{}, { asObjects: true }, { skipFirstLine: true }, { fromLine: 1 }, { toLine: 1 }]) {
  const name = JSON.stringify(options);
  try {
    results.push([name, [...(await csv.parse(await fs.open('blank.csv'), options))].map(sorted)]);
  } catch (error) {
    results.push([name, String(error)]);
  }
  try {
    const parser = new csv.Parser(await fs.open('blank.csv'), options);
    for (let i = 0; i < 5; i++) results.push([`${name} ${i}`, await parser.next().then(({ done, value }) => [done, sorted(value)], (error) => `${error} ${error.start_line} ${error.line} ${error.column}`)]);
  } catch (error) {
    results.push([name, String(error)]);
  }
}
export default function () { for (const [name, result] of results) note(name, result); }
