// Sources that fail.
// files: say.js
import { ReadableStream } from 'k6/experimental/streams';
import { say } from './say.js';
export default async function () {
  await say('start throws', () => new ReadableStream({ start() { throw new RangeError('start'); } }));
  await say('start rejects', () => new ReadableStream({ start() { return Promise.reject(new RangeError('start')); } }).getReader().read());
  await say('pull throws', () => new ReadableStream({ pull() { throw new RangeError('pull'); } }).getReader().read());
  await say('pull rejects', () => new ReadableStream({ async pull() { throw new RangeError('pull'); } }).getReader().read());
  await say('closed', () => new ReadableStream({ pull() { throw new RangeError('pull'); } }).getReader().closed);
}
