// Sources that are none.
// files: say.js
import { ReadableStream } from 'k6/experimental/streams';
import { say } from './say.js';
export default async function () {
  for (const [name, source] of [['null', null], ['number', 5], ['text', 'x'], ['array', []], ['start', { start: 5 }], ['start null', { start: null }], ['pull', { pull: {} }], ['cancel', { cancel: '' }], ['bytes', { type: 'bytes' }], ['type', { type: 'x' }], ['type null', { type: null }], ['type undefined', { type: undefined }], ['undefined', undefined]])
    await say(name, () => typeof new ReadableStream(source));
  await say('strategy', () => typeof new ReadableStream({}, 5));
  await say('strategy null', () => typeof new ReadableStream({}, null));
  await say('size', () => typeof new ReadableStream({}, { size: 5 }));
}
