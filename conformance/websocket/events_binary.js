// k6/websockets: binary messages as blobs and buffers.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { events, on } from './sockets.js';

export default async function () {
  for (const type of ['blob', 'arraybuffer']) {
    await events(type, '/ws/echo', [], (ws) => {
      ws.binaryType = type;
      let n = 0;
      on(ws, 'open', () => { ws.send(new Uint8Array([1, 2, 3])); ws.send(new ArrayBuffer(2)); ws.send(new Uint16Array(4).subarray(1)); ws.send(new Float64Array(1)); ws.send(new ArrayBuffer(0)); });
      on(ws, 'message', () => ++n === 5 && ws.close());
    });
  }
}
