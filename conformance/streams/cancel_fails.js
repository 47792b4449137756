// cancel() of the source throws or rejects.
// files: say.js
import { ReadableStream } from 'k6/experimental/streams';
import { say } from './say.js';
export default async function () {
  await say('throws', () => new ReadableStream({ cancel() { throw new RangeError('no'); } }).cancel('x'));
  await say('rejects', () => new ReadableStream({ cancel() { return Promise.reject('no'); } }).cancel('x'));
  await say('without', async () => String(await new ReadableStream().cancel()));
  await say('failed', () => new ReadableStream({ start(c) { c.error(new Error('before')); } }).cancel());
}
