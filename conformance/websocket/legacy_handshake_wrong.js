// k6/ws: answers with 101 that are none.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy } from './sockets.js';

export default function () {
  for (const [name, query] of [['key', 'accept=wrong'], ['no key', 'accept='], ['upgrade', 'upgrade=h2c'], ['no upgrade', 'upgrade='], ['connection', 'connection=close'], ['no connection', 'connection='], ['200', 'status=200'], ['letters', 'upgrade=WebSocket&connection=keep-alive,%20UPGRADE']]) {
    legacy(name, `/ws/echo?${query}`, {}, (s) => s.close(1000));
  }
}
