// Rows are copies that cannot be changed.
// files: say.js table.csv
import csv from 'k6/experimental/csv';
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const rows = await csv.parse(await fs.open('table.csv'));
export default async function () {
  note('frozen', Object.isFrozen(rows[0]));
  note('copy', rows[0] === rows[0]);
  await say('element', () => { rows[0] = 1; });
  await say('length', () => { rows.length = 0; });
  await say('push', () => { rows.push([]); });
  note('beyond', [rows[99], rows[-1], 0 in rows, 5 in rows]);
}
