// k6/ws: samples without the usual system tags.
// varies: ws_connecting ws_session_duration ws_ping
// flags: --system-tags=ip,status
// out: json


import ws from 'k6/ws';

export default function () {
  ws.connect(`${__ENV.BASE_URL.replace('http', 'ws')}/ws/close?code=1000`, {}, () => {});
}
