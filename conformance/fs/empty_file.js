// A file of no bytes.
// files: say.js empty.csv
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const file = await fs.open('empty.csv');
export default async function () {
  await say('size', async () => (await file.stat()).size);
  await say('read', () => file.read(new Uint8Array(1)));
  await say('start', () => file.seek(0, 0));
  await say('end', () => file.seek(0, 2));
}
