// Arguments of seek() that are none.
// files: say.js table.csv
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const file = await fs.open('table.csv');
export default async function () {
  for (const offset of [null, undefined, '3', 1.5, NaN, Infinity, true, {}]) await say(`offset ${offset}`, () => file.seek(offset, 0));
  for (const whence of [null, undefined, '0', 3, -1, 1.5, NaN]) await say(`whence ${whence}`, () => file.seek(0, whence));
  await say('none', () => file.seek());
}
