// Records one after another, and past the end.
// files: say.js table.csv
import csv from 'k6/experimental/csv';
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
export const options = { iterations: 8 };
const parser = new csv.Parser(await fs.open('table.csv'), { skipFirstLine: true });
export default async function () { await say(`iteration ${__ITER}`, () => parser.next()); }
