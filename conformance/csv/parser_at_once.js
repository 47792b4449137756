// next() several times at once.
// files: say.js table.csv
import csv from 'k6/experimental/csv';
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const parser = new csv.Parser(await fs.open('table.csv'));
export default async function () {
  const [a, b, c] = await Promise.all([parser.next(), parser.next(), parser.next()]);
  note('ids', [a.value[0], b.value[0], c.value[0]].sort());
  note('frozen', [Object.isFrozen(a), Object.isFrozen(a.value)]);
}
