// A record for each iteration of the test.
// files: say.js table.csv
import csv from 'k6/experimental/csv';
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
import exec from 'k6/execution';
export const options = { vus: 2, iterations: 4 };
const rows = await csv.parse(await fs.open('table.csv'), { asObjects: true });
export default function () { note('name', rows[exec.scenario.iterationInTest].name); }
