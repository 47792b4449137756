// CountQueuingStrategy.
// files: say.js
import { ReadableStream, CountQueuingStrategy } from 'k6/experimental/streams';
import { note, say } from './say.js';
export default async function () {
  const strategy = new CountQueuingStrategy({ highWaterMark: 3 });
  note('strategy', [strategy, strategy.size(), strategy.size('abc')]);
  await say('used', () => { let left; new ReadableStream({ start(c) { c.enqueue(1); left = c.desiredSize; } }, strategy); return left; });
  await say('nothing', () => new CountQueuingStrategy());
  await say('null', () => new CountQueuingStrategy(null));
  await say('number', () => new CountQueuingStrategy(5));
  await say('empty', () => new CountQueuingStrategy({}));
  await say('two', () => new CountQueuingStrategy({ highWaterMark: 1 }, 2));
  await say('negative', () => new ReadableStream({}, new CountQueuingStrategy({ highWaterMark: -1 })));
}
