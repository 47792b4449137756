// What the module exports.
// files: say.js
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
import * as all from 'k6/experimental/fs';
export default function () {
  note('names', Object.keys(all).filter((name) => name !== 'default').sort().join());
  note('modes', [fs.SeekMode.Start, fs.SeekMode.Current, fs.SeekMode.End]);
  note('kind', typeof fs.open);
}
