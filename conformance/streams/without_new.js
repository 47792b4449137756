// Classes called as functions.
// files: say.js
import { ReadableStream, ReadableStreamDefaultReader, CountQueuingStrategy } from 'k6/experimental/streams';
import { say } from './say.js';
export default async function () {
  await say('stream', () => typeof ReadableStream().getReader);
  await say('reader', () => typeof ReadableStreamDefaultReader(new ReadableStream()).read);
  await say('strategy', () => CountQueuingStrategy({ highWaterMark: 2 }));
}
