// Another delimiter.
// files: say.js semicolon.csv table.csv
import csv from 'k6/experimental/csv';
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const rows = await csv.parse(await fs.open('semicolon.csv'), { delimiter: ';' });
const digit = await csv.parse(await fs.open('semicolon.csv'), { delimiter: 2 }).then((rows) => [...rows], String);
const failed = await csv.parse(await fs.open('table.csv'), { delimiter: ';' }).catch(String);
export default function () { note('rows', rows); note('digit', digit); note('failed', failed); }
