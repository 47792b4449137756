// Readers that cannot be had.
// files: say.js
import { ReadableStream, ReadableStreamDefaultReader } from 'k6/experimental/streams';
import { say } from './say.js';
export default async function () {
  const stream = new ReadableStream();
  const reader = stream.getReader();
  await say('locked', () => stream.locked);
  await say('again', () => stream.getReader());
  await say('constructor', () => new ReadableStreamDefaultReader(stream));
  await say('nothing', () => new ReadableStreamDefaultReader());
  await say('null', () => new ReadableStreamDefaultReader(null));
  await say('object', () => new ReadableStreamDefaultReader({}));
  await say('two', () => new ReadableStreamDefaultReader(new ReadableStream(), 1));
  await say('byob', () => new ReadableStream().getReader({ mode: 'byob' }));
  await say('mode', () => new ReadableStream().getReader({ mode: 'x' }));
  await say('number', () => new ReadableStream().getReader(5));
  await say('null', () => typeof new ReadableStream().getReader(null));
  await say('undefined', () => typeof new ReadableStream().getReader({ mode: undefined }));
  await say('tee', () => new ReadableStream().tee());
  await say('free', () => { reader.releaseLock(); return [stream.locked, typeof stream.getReader()]; });
}
