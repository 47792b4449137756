// Chunks that were queued, then the end.
// files: say.js
import { ReadableStream } from 'k6/experimental/streams';
import { say } from './say.js';
export default async function () {
  const stream = new ReadableStream({ start(controller) { for (const chunk of ['a', { b: 1 }, 3]) controller.enqueue(chunk); controller.close(); } });
  const reader = stream.getReader();
  for (let i = 0; i < 5; i++) await say(`read ${i}`, async () => { const { value, done } = await reader.read(); return [value, done]; });
  await say('closed', async () => String(await reader.closed));
}
