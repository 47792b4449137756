// controller.error() drops what is queued.
// files: say.js
import { ReadableStream } from 'k6/experimental/streams';
import { say } from './say.js';
export default async function () {
  let controller;
  const reader = new ReadableStream({ start(c) { controller = c; } }).getReader();
  controller.enqueue('lost');
  controller.error(new Error('first'));
  controller.error(new Error('second'));
  await say('read', () => reader.read());
  await say('closed', () => reader.closed);
  await say('enqueue', () => controller.enqueue());
  await say('close', () => controller.close());
}
