// k6/ws: binary messages.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy, on } from './sockets.js';

export default function () {
  legacy('bytes', '/ws/echo', {}, (s) => { s.on('open', () => s.sendBinary(new Uint8Array([1, 2, 3]).buffer)); s.on('binaryMessage', () => s.close()); });
  legacy('none', '/ws/echo', {}, (s) => { s.on('open', () => s.sendBinary(new ArrayBuffer(0))); s.on('binaryMessage', () => s.close()); });
}
