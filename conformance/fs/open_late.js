// open() after init.
// files: say.js table.csv
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
await fs.open('table.csv');
export default async function () {
  await say('again', () => fs.open('table.csv'));
  await say('empty', () => fs.open(''));
}
