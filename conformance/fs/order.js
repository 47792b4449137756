// Promises are settled after the microtasks.
// files: say.js table.csv
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const file = await fs.open('table.csv');
export default async function () {
  const order = [];
  const read = file.read(new Uint8Array(2)).then(() => order.push('read'));
  Promise.resolve().then(() => order.push('micro')).then(() => order.push('micro 2'));
  order.push('read() has returned');
  await read;
  note('order', order.join(' '));
}
