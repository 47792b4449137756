// A module of another folder: paths are relative to the main script.
// files: say.js lib/opens_fs.js=opens_fs.js table.csv
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
import { size } from './lib/opens_fs.js';
export default function () { note('size', size); }
