// What read() does not fill.
// files: say.js table.csv
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const file = await fs.open('table.csv');
export default async function () {
  for (const [name, into] of [['nothing'], ['null', null], ['array', []], ['buffer', new ArrayBuffer(4)], ['Uint16Array', new Uint16Array(4)], ['clamped', new Uint8ClampedArray(4)], ['view', new DataView(new ArrayBuffer(4))], ['text', 'abc']])
    await say(name, () => file.read(into));
  await say('no room', () => file.read(new Uint8Array(0)));
  await say('place', () => file.seek(0, 1));
}
