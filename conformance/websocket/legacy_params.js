// k6/ws: parameters that are none.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy } from './sockets.js';

export default function () {
  for (const params of [5, 'x', null, undefined, { tags: 5 }, { tags: { a: {} } }, { tags: [] }, { tags: null }, { headers: 5 }, { headers: { a: {} } }, { headers: null }, { jar: 5 }, { compression: null }, { compression: '' }, { compression: ' ' }, { compression: 5 }, { compression: 'gzip' }, { compression: 'Deflate' }, { unknown: 1 }]) {
    legacy(`${JSON.stringify(params)}`, '/ws/echo', params, (s) => s.close(1000));
  }
}
