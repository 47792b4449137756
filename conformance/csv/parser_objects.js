// Records as objects, up to a line.
// files: say.js table.csv
import csv from 'k6/experimental/csv';
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const parser = new csv.Parser(await fs.open('table.csv'), { asObjects: true, toLine: 2 });
export default async function () {
  for (let i = 0; i < 4; i++) await say(`record ${i}`, async () => { const { done, value } = await parser.next(); return [done, value.id, value.name]; });
}
