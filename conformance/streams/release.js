// A reader that let go.
// files: say.js
import { ReadableStream } from 'k6/experimental/streams';
import { say } from './say.js';
export default async function () {
  let controller;
  const stream = new ReadableStream({ start(c) { controller = c; } });
  const reader = stream.getReader();
  const pending = reader.read();
  reader.releaseLock();
  reader.releaseLock();
  await say('pending', () => pending);
  await say('read', () => reader.read());
  await say('cancel', () => reader.cancel());
  await say('closed', () => reader.closed);
  controller.enqueue('later');
  await say('next reader', async () => (await stream.getReader().read()).value);
}
