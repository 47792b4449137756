// k6/ws: callbacks that are none, several of one kind, and those that come later.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy, on } from './sockets.js';

export default function () {
  legacy('on', '/ws/echo', {}, (s, log) => {
    log.push(`${s.on('message', 5)}`, `${s.on('unknown', () => log.push('never'))}`, `${s.on('open')}`);
    s.on('open', () => { log.push('second'); s.on('message', () => { log.push('late'); s.close(1000); }); s.send('a'); });
  });
}
