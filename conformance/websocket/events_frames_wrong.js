// k6/websockets: frames that break the protocol.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { events } from './sockets.js';

export default async function () {
  for (const [name, data] of [['masked', '8185000000004849504c4f'], ['rsv1', 'c10161'], ['rsv2', 'a10161'], ['rsv3', '910161'], ['all rsv', 'f10161'], ['opcode 3', '830161'], ['opcode 7', '870161'], ['opcode 11', '8b00'], ['opcode 15', '8f00'], ['ping of 126', '897e0080'], ['ping in pieces', '090161'], ['close in pieces', '080203e8'], ['pong in pieces', '0a00'], ['continuation first', '800161'], ['text in a text', '010161810162'], ['binary in a text', '010161820162'], ['HTTP', '485454502f312e3120'], ['zeros', '0000000000'], ['masked ping', '89800000000000']]) {
    await events(name, `/ws/raw?data=${data}`, []);
  }
}
