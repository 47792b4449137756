// Two parsers of the same file.
// files: say.js table.csv
import csv from 'k6/experimental/csv';
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const [a, b] = [new csv.Parser(await fs.open('table.csv')), new csv.Parser(await fs.open('table.csv'))];
export default async function () {
  await a.next();
  await say('a', () => a.next());
  await say('b', () => b.next());
}
