// Reading begins where the file is.
// files: say.js table.csv
import csv from 'k6/experimental/csv';
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const file = await fs.open('table.csv');
await file.seek(12, fs.SeekMode.Start);
const rows = await csv.parse(file);
export default function () { note('first', rows[0]); note('length', rows.length); }
