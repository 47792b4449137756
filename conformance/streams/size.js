// Chunks of other sizes.
// files: say.js
import { ReadableStream } from 'k6/experimental/streams';
import { note } from './say.js';
export default async function () {
  let controller;
  new ReadableStream({ start(c) { controller = c; } }, { highWaterMark: 10, size: (chunk) => chunk.length });
  const sizes = [];
  for (const chunk of ['abc', '', 'defgh', 'ijkl']) { controller.enqueue(chunk); sizes.push(controller.desiredSize); }
  note('sizes', sizes);
}
