// pull() returns a promise: it is not called again before that is settled.
// files: say.js
import { ReadableStream } from 'k6/experimental/streams';
import { note } from './say.js';
export default async function () {
  let calls = 0;
  let running = 0;
  let most = 0;
  const stream = new ReadableStream({ async pull(controller) { most = Math.max(most, ++running); await new Promise((done) => setTimeout(done, 1)); controller.enqueue(++calls); running--; if (calls === 5) controller.close(); } }, { highWaterMark: 0 });
  const reader = stream.getReader();
  const values = [];
  for (;;) { const { done, value } = await reader.read(); if (done) break; values.push(value); }
  note('values', values);
  note('most', most);
}
