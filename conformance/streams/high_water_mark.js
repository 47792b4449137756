// Marks that are none.
// files: say.js
import { ReadableStream } from 'k6/experimental/streams';
import { say } from './say.js';
export default async function () {
  for (const highWaterMark of [0, 1.5, Infinity, -1, NaN, '3', 'x', null, undefined, true])
    await say(`mark ${highWaterMark}`, () => { let left; new ReadableStream({ start(c) { left = c.desiredSize; } }, { highWaterMark }); return String(left); });
}
