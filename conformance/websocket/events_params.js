// k6/websockets: parameters that are none.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { events, on } from './sockets.js';

export default async function () {
  for (const params of [5, '', 'x', null, undefined, { tags: 5 }, { tags: { a: {} } }, { tags: null }, { headers: 5 }, { headers: { a: [1, 2] } }, { headers: null }, { jar: 5 }, { jar: null }, { compression: null }, { compression: '' }, { compression: ' deflate' }, { compression: 'gzip' }, { unknown: 1 }, { unknown: undefined }]) {
    await events(`${JSON.stringify(params)}`, '/ws/echo', [null, params], (ws) => on(ws, 'open', () => ws.close()));
  }
}
