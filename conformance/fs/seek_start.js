// Places from the start.
// files: say.js table.csv
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const file = await fs.open('table.csv');
export default async function () {
  for (const offset of [0, 3, 53, 54, 1000, -1]) await say(`start ${offset}`, () => file.seek(offset, fs.SeekMode.Start));
}
