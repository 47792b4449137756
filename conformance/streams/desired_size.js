// What there is room for.
// files: say.js
import { ReadableStream } from 'k6/experimental/streams';
import { note } from './say.js';
export default async function () {
  let controller;
  const stream = new ReadableStream({ start(c) { controller = c; } }, { highWaterMark: 2 });
  const sizes = [controller.desiredSize];
  controller.enqueue('a');
  sizes.push(controller.desiredSize);
  controller.enqueue('b');
  controller.enqueue('c');
  sizes.push(controller.desiredSize);
  const reader = stream.getReader();
  await reader.read();
  sizes.push(controller.desiredSize);
  controller.close();
  sizes.push(controller.desiredSize);
  await reader.read();
  await reader.read();
  sizes.push(controller.desiredSize);
  note('sizes', sizes);
  let failing;
  new ReadableStream({ start(c) { failing = c; } });
  failing.error('no');
  note('failed', failing.desiredSize);
}
