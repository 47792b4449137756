// k6/ws: what an error says that is a close.
// varies: ws_connecting ws_session_duration ws_ping
import { check } from 'k6';
import ws from 'k6/ws';

const ADDRESS = __ENV.BASE_URL.replace('http', 'ws');

export default function () {
  for (const path of ['code=1011', 'code=1011&reason=why', 'code=4000&reason=own', '']) {
    ws.connect(`${ADDRESS}/ws/close?${path}`, (socket) => {
      socket.on('error', (error) => {
        check(1, { [`${path} ${error.code} ${error.text} ${error.error()} ${error}`]: true });
        check(1, { [`${path} ${JSON.stringify(error)}`]: true });
      });
    });
  }
  ws.connect(`${ADDRESS}/ws/drop?how=close`, (socket) => {
    socket.on('error', (error) => check(1, { [`drop ${error.code} ${error.text} ${JSON.stringify(error)}`]: true }));
  });
}
