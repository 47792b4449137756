// k6/ws: callbacks that wait.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy, on } from './sockets.js';

import http from 'k6/http';
import { sleep } from 'k6';

export default function () {
  legacy('waits', '/ws/count?count=3&code=1000', {}, (s, log) => s.on('message', () => { sleep(0.01); log.push(`${http.get(`${__ENV.BASE_URL}/get`).status}`); }));
}
