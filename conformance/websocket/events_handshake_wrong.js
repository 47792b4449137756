// k6/websockets: handshakes that fail.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { events } from './sockets.js';

export default async function () {
  for (const [name, path] of [['key', '/ws/echo?accept=wrong'], ['upgrade', '/ws/echo?upgrade=h2c'], ['connection', '/ws/echo?connection=close'], ['200', '/ws/echo?status=200'], ['404', '/nothing'], ['redirect', '/redirect/1'], ['closed port', 'ws://127.0.0.1:1/'], ['user', 'ws://u:p@127.0.0.1:1/'], ['no host', 'ws://'], ['port', 'ws://127.0.0.1:99999/']]) {
    await events(name, path, []);
  }
}
