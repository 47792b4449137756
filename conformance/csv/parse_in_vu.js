// parse() after init.
// files: say.js table.csv
import csv from 'k6/experimental/csv';
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
const file = await fs.open('table.csv');
export default async function () { await say('rows', async () => (await csv.parse(file, { fromLine: 2 })).length); }
