// Sizes that are none.
// files: say.js
import { ReadableStream } from 'k6/experimental/streams';
import { note, say } from './say.js';
export default async function () {
  for (const size of [-1, NaN, Infinity, 'x', undefined, null, '3', true]) {
    await say(`size ${size}`, () => { let left; new ReadableStream({ start(c) { c.enqueue('a'); left = c.desiredSize; } }, { size: () => size, highWaterMark: 5 }); return left; });
  }
  await say('throws', () => { new ReadableStream({ start(c) { c.enqueue('a'); } }, { size() { throw new Error('boom'); } }); });
  const caught = [];
  const reader = new ReadableStream({ start(c) { try { c.enqueue('a'); } catch (error) { caught.push(String(error)); } } }, { size: () => -1 }).getReader();
  await say('read', () => reader.read());
  note('caught', caught);
}
