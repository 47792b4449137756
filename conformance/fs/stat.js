// The name and size of a file.
// files: say.js lib/table.csv=table.csv
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const file = await fs.open('./lib/table.csv');
export default async function () {
  await say('stat', () => file.stat());
  await say('keys', async () => Object.keys(await file.stat()));
  note('path', file.path);
}
