// k6/ws: arguments of connect().
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { say, base } from './sockets.js';

import ws from 'k6/ws';

export default function () {
  const f = (s) => s.close(1000);
  for (const args of [[], ['x'], [base, 1, 2, 3], [base, {}], [base, {}, 5], [base, null, null]]) {
    try { say(`${args.length} ${JSON.stringify(ws.connect(...args))}`); } catch (e) { say(`${args.length} threw ${e}`); }
  }
  const r = ws.connect(`${base}/ws/echo`, f);
  say(`${Object.keys(r).sort().join()} ${r.status}`);
}
