// k6/websockets: tags of samples.
// varies: ws_connecting ws_session_duration ws_ping
// out: json


import { WebSocket } from 'k6/websockets';
import { group } from 'k6';

function one(path, ...args) {
  return new Promise((resolve) => {
    const ws = new WebSocket(path.includes(':') ? path : __ENV.BASE_URL.replace('http', 'ws') + path, ...args);
    ws.onopen = () => { ws.send('a'); ws.ping(); };
    ws.onpong = () => ws.close();
    ws.onclose = resolve;
  });
}

export default async function () {
  await one('/ws/echo');
  let grouped;
  group('g', () => { grouped = one('/ws/echo?a', null, { tags: { own: 1 } }); });
  await grouped;
  await one('/ws/echo?b', ['chat'], { tags: { name: 'n' } });
  await one('/nothing', null, { tags: { refused: 'yes' } });
  await one('ws://127.0.0.1:1/');
}
