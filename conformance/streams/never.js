// A read that nothing answers does not keep the iteration alive.
// files: say.js
import { ReadableStream } from 'k6/experimental/streams';
import { note } from './say.js';
export const options = { iterations: 2 };
export default function () {
  const reader = new ReadableStream().getReader();
  reader.read().then(() => note('read', 'answered'));
  note('iteration', __ITER);
}
