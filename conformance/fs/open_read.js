// A file in pieces, to its end.
// files: say.js table.csv
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const file = await fs.open('table.csv');
export default async function () {
  const buffer = new Uint8Array(20);
  for (let i = 0; i < 4; i++) await say(`read ${i}`, async () => [await file.read(buffer), String.fromCharCode(...buffer)]);
}
