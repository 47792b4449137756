// A stream that is cancelled.
// files: say.js
import { ReadableStream } from 'k6/experimental/streams';
import { note, say } from './say.js';
export default async function () {
  const log = [];
  let controller;
  const stream = new ReadableStream({ start(c) { controller = c; }, cancel(reason) { log.push(`cancelled ${reason}`); return 5; } });
  const reader = stream.getReader();
  await say('locked', () => stream.cancel('locked'));
  const pending = reader.read().then(({ value, done }) => [String(value), done]);
  await say('cancel', async () => String(await reader.cancel('why')));
  await say('pending', () => pending);
  await say('again', async () => String(await reader.cancel('again')));
  await say('closed', async () => String(await reader.closed));
  await say('enqueue', () => controller.enqueue(1));
  await say('close', () => controller.close());
  note('log', log);
}
