// Places from where it is.
// files: say.js table.csv
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const file = await fs.open('table.csv');
export default async function () {
  for (const offset of [5, -2, 0, -100, 50, 1, 1000]) await say(`current ${offset}`, () => file.seek(offset, fs.SeekMode.Current));
}
