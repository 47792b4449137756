// k6/ws: tags of samples.
// varies: ws_connecting ws_session_duration ws_ping
// out: json


import ws from 'k6/ws';
import { group } from 'k6';
import exec from 'k6/execution';

export default function () {
  const base = __ENV.BASE_URL.replace('http', 'ws');
  const one = (path, params) => ws.connect(base + path, params, (s) => { s.on('open', () => { s.send('a'); s.ping(); }); s.on('pong', () => s.close(1000)); });
  one('/ws/echo', {});
  group('g', () => one('/ws/echo?a', { tags: { own: 1, name: 'n', url: 'u' } }));
  exec.vu.metrics.tags.vutag = 'v';
  one('/ws/echo?b', { headers: { 'Sec-WebSocket-Protocol': 'chat' } });
  one('/nothing', { tags: { refused: 'yes' } });
  ws.connect('ws://127.0.0.1:1/', {}, () => {});
}
