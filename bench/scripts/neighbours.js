// A well-behaved VU beside one that does what HOSTILE names in hostile.js. The neighbour asks for 5 ms of sleep again and
// again and prints how much later it went on, in milliseconds; run with --log-format=raw and --console-output=FILE. With
// HOSTILE=? the names are printed. VUS: how many do it, 1 by default; the neighbour waits until many have started.
import { sleep } from 'k6';
import { hostile } from './hostile.js';

const SECONDS = Number(__ENV.SECONDS || 2);
const SLEEP_MS = 5;
const VUS = Number(__ENV.VUS || 1);
const START = VUS > 1 ? 1 : 0;
const scenario = (name, vus, start) => ({
  executor: 'constant-vus',
  startTime: `${start}s`,
  exec: name,
  vus,
  duration: `${SECONDS - start}s`,
  gracefulStop: '0s',
});

export const options =
  __ENV.HOSTILE === '?' ? {} : { scenarios: { work: scenario('work', VUS, 0), neighbour: scenario('neighbour', 1, START) } };

export default function () {
  console.log(Object.keys(hostile).join('\n'));
}

export function work() {
  return hostile[__ENV.HOSTILE]();
}

export function neighbour() {
  const begin = Date.now();
  sleep(SLEEP_MS / 1000);
  console.log(Math.max(0, Date.now() - begin - SLEEP_MS));
}
