// Options of other types.
// files: say.js table.csv
import csv from 'k6/experimental/csv';
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const all = [{ fromLine: '1' }, { fromLine: 1.7 }, { fromLine: null }, { toLine: '2' }, { skipFirstLine: 'yes' }, { skipFirstLine: 0 }, { asObjects: 'x' }, { asObjects: null }, { unknown: 1 }, 5, 'x', [], true];
const results = [];
for (const options of all) results.push([JSON.stringify(options), (await csv.parse(await fs.open('table.csv'), options)).length]);
export default function () { for (const [options, length] of results) note(options, length); }
