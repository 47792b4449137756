// A stream of init code.
// files: say.js
import { ReadableStream } from 'k6/experimental/streams';
import { say } from './say.js';
const stream = new ReadableStream({ start(controller) { controller.enqueue('from init'); } });
const reader = stream.getReader();
export default async function () { await say('read', async () => (await reader.read()).value); }
