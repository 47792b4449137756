// A file as an array of objects.
// files: say.js table.csv
import csv from 'k6/experimental/csv';
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const rows = await csv.parse(await fs.open('table.csv'), { asObjects: true });
export default function () { for (const row of rows) note('row', `${row.id} ${row.name} ${row.qty} ${Object.keys(row).sort()}`); note('length', rows.length); }
