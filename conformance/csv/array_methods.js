// Methods of arrays.
// files: say.js table.csv
import csv from 'k6/experimental/csv';
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const rows = await csv.parse(await fs.open('table.csv'), { skipFirstLine: true });
export default function () {
  note('map', rows.map((row) => row[0]));
  note('find', rows.find((row) => row[2] === '5'));
  note('slice', rows.slice(1, 3));
  note('sum', rows.reduce((sum, [, , quantity]) => sum + Number(quantity), 0));
  note('last', rows.at(-1));
  note('spread', [...rows].length);
}
