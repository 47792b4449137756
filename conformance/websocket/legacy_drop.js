// k6/ws: connections that end without a close.
// varies: ws_connecting ws_session_duration ws_ping
// files: sockets.js
import { legacy, on } from './sockets.js';

export default function () {
  legacy('at once', '/ws/drop', {});
  legacy('after a message', '/ws/drop?after=1', {}, (s) => s.on('open', () => s.send('a')));
  legacy('in a head', '/ws/raw?data=81', {});
  legacy('in a length', '/ws/raw?data=817e01', {});
  legacy('in a payload', '/ws/raw?data=810561', {});
  legacy('between fragments', '/ws/raw?data=010161', {});
  legacy('in a ping', '/ws/raw?data=890561', {});
  legacy('in a close', '/ws/raw?data=880203', {});
  legacy('after a message of theirs', '/ws/raw?data=810161', {});
}
