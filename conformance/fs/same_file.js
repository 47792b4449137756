// Each handle is at a place of its own.
// files: say.js table.csv
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const [a, b] = [await fs.open('table.csv'), await fs.open('./table.csv')];
export default async function () {
  await a.seek(10, 0);
  await say('a', () => a.seek(0, 1));
  await say('b', () => b.seek(0, 1));
  note('same', a === b || a.path !== b.path);
}
