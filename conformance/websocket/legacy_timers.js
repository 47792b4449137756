// k6/ws: timers of the socket.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy } from './sockets.js';

export default function () {
  legacy('all', '/ws/echo', {}, (s, log) => {
    let n = 0;
    s.setInterval(() => { log.push('tick'); if (++n === 3) s.close(1000); }, 60);
    log.push(`${s.setTimeout(() => log.push('once'), 90)}`);
  });
  for (const ms of [0, -1, undefined, NaN, 'x', null]) {
    for (const name of ['setTimeout', 'setInterval']) legacy(`${name} ${ms}`, '/ws/echo', {}, (s) => s[name](() => 1, ms));
  }
  for (const ms of ['5', 0.001, 1.5, true]) legacy(`${ms}`, '/ws/echo', {}, (s, log) => s.setTimeout(() => { log.push('fired'); s.close(1000); }, ms));
}
