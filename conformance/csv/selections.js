// fromLine, toLine and skipFirstLine.
// files: say.js table.csv
import csv from 'k6/experimental/csv';
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const file = await fs.open('table.csv');
const all = [{}, { skipFirstLine: true }, { fromLine: 0 }, { fromLine: 1 }, { fromLine: 4 }, { fromLine: 5 }, { toLine: 0 }, { toLine: 1 }, { toLine: 99 }, { fromLine: 1, toLine: 3 }, { fromLine: 2, skipFirstLine: true }, { skipFirstLine: true, toLine: 2 }, { asObjects: true, toLine: 2 }];
const results = [];
for (const options of all) results.push([JSON.stringify(options), [...(await csv.parse(await fs.open('table.csv'), options))].map((row) => (Array.isArray(row) ? row[0] : row.id)).join()]);
export default function () { for (const [options, ids] of results) note(options, ids); }
