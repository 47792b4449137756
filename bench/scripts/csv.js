// A table of a million rows.
//
// FILE       the table: a header, and rows of four fields
// READ       parse: the whole file, once for all VUs; rows: reads every tenth row of it, too; next: one row after another
import csv from 'k6/experimental/csv';
import fs from 'k6/experimental/fs';

const rows = 1000000;
const file = await fs.open(__ENV.FILE);
const table = __ENV.READ === 'next' ? null : await csv.parse(file, { skipFirstLine: true });
const parser = __ENV.READ === 'next' ? new csv.Parser(file, { skipFirstLine: true }) : null;

export default async function () {
  let count = 0;
  if (__ENV.READ === 'next') {
    while (!(await parser.next()).done) count++;
  } else {
    count = table.length;
  }
  if (count !== rows) throw new Error(`${count} rows, not ${rows}`);
  if (__ENV.READ !== 'rows') return;
  let sum = 0;
  for (let n = 0; n < rows; n += 10) sum += Number(table[n][0]);
  if (sum !== 49999500000) throw new Error(`the numbers make ${sum}`);
}
