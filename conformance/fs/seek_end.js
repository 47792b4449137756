// Places from the end, which is the last byte.
// files: say.js table.csv
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const file = await fs.open('table.csv');
export default async function () {
  for (const offset of [0, -1, -52, -53, 1]) await say(`end ${offset}`, () => file.seek(offset, fs.SeekMode.End));
  await file.seek(0, fs.SeekMode.End);
  await say('rest', () => file.read(new Uint8Array(9)));
}
