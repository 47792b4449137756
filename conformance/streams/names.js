// What the module exports.
// files: say.js
import streams, * as all from 'k6/experimental/streams';
import { note } from './say.js';
export default function () {
  note('names', Object.keys(all).filter((name) => name !== 'default').sort().join());
  note('kinds', [typeof streams.ReadableStream, typeof all.ReadableStreamDefaultReader, typeof all.CountQueuingStrategy]);
  note('global', typeof globalThis.ReadableStream);
}
