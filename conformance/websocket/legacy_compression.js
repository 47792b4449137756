// k6/ws: compressed messages.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy, on } from './sockets.js';

export default function () {
  const text = 'hello é '.repeat(1000);
  for (const [name, query] of [['agreed', ''], ['refused', '?deflate=0'], ['with context', '?context=1'], ['half', '?extensions=permessage-deflate;%20server_no_context_takeover'], ['other', '?extensions=x-other'], ['in pieces', '?fragment=10&pings=1']]) {
    legacy(name, `/ws/echo${query}`, { compression: 'deflate' }, (s, log) => { s.on('open', () => s.send(text)); s.on('message', (m) => { log.pop(); log.push(`${m === text}`); s.close(1000); }); });
  }
  legacy('unasked', '/ws/echo?extensions=permessage-deflate;%20server_no_context_takeover;%20client_no_context_takeover', {}, (s) => s.close(1000));
}
