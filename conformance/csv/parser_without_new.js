// Parser is called as a function.
// files: say.js table.csv
import csv from 'k6/experimental/csv';
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const parser = csv.Parser(await fs.open('table.csv'));
export default async function () { await say('next', () => parser.next()); }
