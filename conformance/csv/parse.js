// A file as an array of arrays.
// files: say.js table.csv
import csv from 'k6/experimental/csv';
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const rows = await csv.parse(await fs.open('table.csv'));
export default function () { note('rows', rows); note('length', rows.length); note('array', Array.isArray(rows)); }
