// What the module exports.
// files: say.js
import csv from 'k6/experimental/csv';
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
import * as all from 'k6/experimental/csv';
export default function () {
  note('names', Object.keys(all).filter((name) => name !== 'default').sort().join());
  note('kinds', [typeof csv.parse, typeof csv.Parser]);
}
