// Each VU is at a place of its own, which stays between iterations.
// files: say.js table.csv
import fs from 'k6/experimental/fs';
import { note, say } from './say.js';
export const options = { scenarios: { all: { executor: 'per-vu-iterations', vus: 2, iterations: 3 } } };
const file = await fs.open('table.csv');
export default async function () { await say(`iteration ${__ITER}`, async () => { await file.read(new Uint8Array(4)); return file.seek(0, 1); }); }
