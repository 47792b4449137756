// k6/websockets: properties and listeners, in their order.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { events, on } from './sockets.js';

export default async function () {
  await events('order', '/ws/close?code=1000', [], (ws, log) => {
    ws.onopen = () => log.push('first'); ws.onopen = () => log.push('property');
    ws.onclose = () => log.push('onclose'); ws.onmessage = null; ws.onerror = undefined;
    on(ws, 'open', () => log.push('second'));
    for (const v of [5, 'x', {}]) try { ws.onopen = v; } catch (e) { log.push(`${e}`); }
    for (const a of [['open'], ['unknown', () => 1], [], ['open', null]]) try { log.push(`${ws.addEventListener(...a)}`); } catch (e) { log.push(`${e}`); }
    for (const v of ['x', null, 5, 'arraybuffer', 'blob']) try { ws.binaryType = v; log.push(ws.binaryType); } catch (e) { log.push(`${e}`); }
  });
}
