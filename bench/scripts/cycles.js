// Each VU makes and drops many small objects, sends a request and sleeps. What it holds then is its own, and what waits
// for the cycle collector.
//
// BASE_URL   the built-in target
// SLEEP      seconds to sleep
// LEAVE      cycles: the objects refer to each other, and only the collector frees them; trees: they do not
import http from 'k6/http';
import { sleep } from 'k6';

const URL = `${__ENV.BASE_URL || 'http://127.0.0.1:8080'}/f/100`;
const SLEEP = Number(__ENV.SLEEP || 600);
const ARE_CYCLES = __ENV.LEAVE === 'cycles';

export default function () {
  // Every VU stops at another place between two collections.
  for (let i = 0; i < 1000 + (__VU % 101); i++) {
    const parent = { name: 'parent', list: [1, 2, 3] };
    parent.child = { name: 'child', text: `item ${i}` };
    if (ARE_CYCLES) parent.child.parent = parent;
  }
  http.get(URL);
  sleep(SLEEP);
}
