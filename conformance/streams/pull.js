// pull() is called as long as there is room.
// files: say.js
import { ReadableStream } from 'k6/experimental/streams';
import { note } from './say.js';
export default async function () {
  const log = [];
  const stream = new ReadableStream({
    start() { log.push('start'); return new Promise((done) => setTimeout(done, 5)).then(() => log.push('started')); },
    pull(controller) { log.push(`pull ${controller.desiredSize}`); controller.enqueue(log.length); if (log.length > 12) controller.close(); },
  }, { highWaterMark: 2 });
  const reader = stream.getReader();
  Promise.resolve().then(() => log.push('micro'));
  for (;;) { const { done, value } = await reader.read(); log.push(`read ${value} ${done}`); if (done) break; }
  note('log', log.join(', '));
}
