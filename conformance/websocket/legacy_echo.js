// k6/ws: a text and what happens around close().
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy, on } from './sockets.js';

export default function () {
  legacy('echo', '/ws/echo', null, (s, log) => {
    s.on('open', () => { log.push('opened'); s.send('hi é'); });
    s.on('message', () => { log.push('closing'); s.close(); log.push('closed'); s.close(3000); s.send('late'); });
  });
  legacy('in setup', '/ws/echo', {}, (s, log) => { s.close(1000); log.push('closed'); });
}
