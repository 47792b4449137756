// Requests before chunks, and reactions in their order.
// files: say.js
import { ReadableStream } from 'k6/experimental/streams';
import { note } from './say.js';
export default async function () {
  const log = [];
  let controller;
  const reader = new ReadableStream({ start(c) { controller = c; } }, { highWaterMark: 3 }).getReader();
  const read = (name) => reader.read().then(({ value, done }) => log.push(`${name} ${value} ${done}`));
  read('a');
  read('b');
  controller.enqueue(1);
  log.push('enqueued');
  Promise.resolve().then(() => log.push('micro'));
  controller.enqueue(2);
  controller.enqueue(3);
  controller.close();
  reader.closed.then(() => log.push('closed'));
  read('c');
  read('d');
  await new Promise((done) => setTimeout(done, 10));
  note('log', log.join(', '));
}
