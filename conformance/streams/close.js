// controller.close() keeps what is queued.
// files: say.js
import { ReadableStream } from 'k6/experimental/streams';
import { say } from './say.js';
export default async function () {
  let controller;
  const reader = new ReadableStream({ start(c) { controller = c; } }).getReader();
  controller.enqueue('kept');
  controller.close();
  await say('enqueue', () => controller.enqueue());
  await say('close', () => controller.close());
  await say('read', async () => (await reader.read()).value);
  await say('end', async () => (await reader.read()).done);
  await say('closed', async () => String(await reader.closed));
}
